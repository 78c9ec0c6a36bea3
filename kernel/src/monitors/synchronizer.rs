//! Synchronizers: coordination by declared rules over a small state, instead of by hand.

use core::marker::PhantomData;

use super::{Pattern, label};
use crate::inbox::{Filter, Inbox, Writers};
use crate::letter::Letter;
use crate::monitor::{Monitor, Parallel};

/// The rules of a [`Synchronizer`], and the state they are about.
///
/// A pattern is any [`Filter`]; to mean the letters for one object, ask for [`Letter::receiver`] in it. The rules are
/// read again for every decision, in the order they are written, so they must only call the rule book:
///
/// ```
/// use flockwork::{Category, RuleBook, Rules, Synchronizer};
///
/// static RAISE: Category = Category::new("raise");
/// static LOWER: Category = Category::new("lower");
/// static OPEN_LEFT: Category = Category::new("open left");
/// static OPEN_RIGHT: Category = Category::new("open right");
///
/// /// The gates of a lock: never raised by more than three, and opened only both at once.
/// pub struct Sluice { raised: usize }
///
/// impl Rules for Sluice {
///     const NEW: Self = Self { raised: 0 };
///
///     fn rules(rules: &mut RuleBook<'_, Self>) {
///         rules.when(&RAISE).update(|sluice| sluice.raised += 1);
///         rules.when(&LOWER).update(|sluice| sluice.raised -= 1);
///         rules.when(|sluice: &Self| sluice.raised == 3).disable(&RAISE);
///         rules.when(|sluice: &Self| sluice.raised == 0).disable(&LOWER);
///         rules.atomic(&[&OPEN_LEFT, &OPEN_RIGHT]);
///     }
/// }
///
/// type SluiceMonitor = Synchronizer<Sluice>;
/// ```
pub trait Rules: Send + Sized + 'static {
    /// The state for a new actor.
    const NEW: Self;

    /// Declares the rules.
    fn rules(rules: &mut RuleBook<'_, Self>);
}

/// A monitor made of [`Rules`] (PAM-L6, PAM-L7, PAM-L8).
///
/// - A letter that matches no pattern of an atomic group is granted as soon as no rule disables it. The updates for it
///   are made when it is granted, so the next letter is already judged by the new state.
/// - A letter that matches a pattern of an atomic group is granted only together with the others of its group: the
///   oldest letter for each pattern. They must be able to run in parallel: `&self`, or distinct objects.
/// - While a group runs, no other letter does, and a group starts when nothing else runs.
///
/// As in the paper, rules say nothing about fairness: single letters that keep coming hold up a group.
///
/// ```text
/// rules: when(request).update(+1)  when(release).update(-1)  when(count >= 2).disable(request)
/// inbox request0 request1 request2 release3   granted request0 request1 release3
/// leave request0                              granted request2
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Synchronizer<R> {
    state: R,
    executing: usize,
    /// Whether what executes is a group.
    atomic: bool,
}

impl<R: Rules> Monitor for Synchronizer<R> {
    type Discipline = Parallel;
    const NEW: Self = Self { state: R::NEW, executing: 0, atomic: false };

    fn schedule(&mut self, inbox: Inbox<'_>) {
        if self.atomic {
            return;
        }
        if self.executing == 0 {
            self.executing = RuleBook::ask(&mut self.state, Question::StartGroup(inbox));
            self.atomic = self.executing > 0;
            if self.atomic {
                return;
            }
        }
        for letter in inbox.letters() {
            if is_disabled(&mut self.state, letter) || is_in_group(&mut self.state, letter) {
                continue;
            }
            if inbox.admits(&[letter]) && inbox.execute(letter) {
                self.executing += 1;
                update(&mut self.state, letter);
            } else if Writers.pass(&letter) {
                // It needs the actor for itself. Readers that pass it now would keep it waiting.
                break;
            }
        }
    }

    fn leave(&mut self, _: Letter<'_>) {
        self.executing -= 1;
        if self.executing == 0 {
            self.atomic = false;
        }
    }
}

/// Where [`Rules`] are written down.
///
/// Nothing is stored: each time the rules are read there is a question, and each rule adds its answer.
pub struct RuleBook<'b, S> {
    state: &'b mut S,
    question: Question<'b>,
    answer: usize,
}

/// What the rules are read for, and what the answer counts.
#[derive(Clone, Copy)]
enum Question<'b> {
    /// Make the updates for this letter. (Nothing to answer.)
    Update(Letter<'b>),
    /// How many rules disable this letter?
    IsDisabled(Letter<'b>),
    /// In how many groups is this letter?
    IsInGroup(Letter<'b>),
    /// Start the first group that can. How many letters does it have?
    StartGroup(Inbox<'b>),
}

impl<S: Rules> RuleBook<'_, S> {
    /// The first half of a rule: `when(pattern).update(..)` or `when(predicate).disable(..)`.
    ///
    /// A pattern is a [`Filter`]. A predicate is a closure on the state whose parameter has its type written down,
    /// `|bound: &Self| ..`, because nothing else would tell it from a filter.
    pub fn when<W>(&mut self, condition: W) -> When<'_, S, W> {
        When { condition, state: self.state, question: self.question, answer: &mut self.answer }
    }

    /// These letters run together or not at all: the oldest one for each pattern, at most eight.
    ///
    /// A group waits while one of its letters is disabled (as judged before any of its updates).
    pub fn atomic(&mut self, patterns: &[&dyn Filter]) {
        match self.question {
            Question::IsInGroup(letter) => {
                self.answer += usize::from(patterns.iter().any(|pattern| pattern.pass(&letter)));
            }
            Question::StartGroup(inbox) if self.answer == 0 => {
                if let Some(group) = inbox.oldest_of_each(patterns)
                    && !group.iter().any(|letter| is_disabled(self.state, *letter))
                    && inbox.execute_together(&group)
                {
                    group.iter().for_each(|letter| update(self.state, *letter));
                    self.answer = group.len();
                }
            }
            _ => {}
        }
    }

    fn ask<'b>(state: &'b mut S, question: Question<'b>) -> usize {
        let mut book = RuleBook { state, question, answer: 0 };
        S::rules(&mut book);
        book.answer
    }
}

fn update<S: Rules>(state: &mut S, letter: Letter<'_>) {
    RuleBook::ask(state, Question::Update(letter));
}

fn is_disabled<S: Rules>(state: &mut S, letter: Letter<'_>) -> bool {
    RuleBook::ask(state, Question::IsDisabled(letter)) > 0
}

fn is_in_group<S: Rules>(state: &mut S, letter: Letter<'_>) -> bool {
    RuleBook::ask(state, Question::IsInGroup(letter)) > 0
}

/// Half a rule.
#[must_use = "`when` alone is no rule: go on with `update` or `disable`"]
pub struct When<'w, S, W> {
    condition: W,
    state: &'w mut S,
    question: Question<'w>,
    answer: &'w mut usize,
}

impl<S, W> When<'_, S, W> {
    /// … a letter that matches the pattern is granted, change the state so.
    pub fn update(self, change: impl FnOnce(&mut S))
    where
        W: Filter,
    {
        if let Question::Update(letter) = self.question
            && self.condition.pass(&letter)
        {
            change(self.state);
        }
    }

    /// … the predicate holds, grant no letter that matches the pattern.
    pub fn disable(self, pattern: impl Filter)
    where
        W: FnOnce(&S) -> bool,
    {
        if let Question::IsDisabled(letter) = self.question
            && pattern.pass(&letter)
            && (self.condition)(self.state)
        {
            *self.answer += 1;
        }
    }
}

label! {
    /// What a [`CollectiveBound`] bounds: methods tagged with [`Request::CATEGORY`].
    Request = "request"
}

label! {
    /// What makes room under a [`CollectiveBound`]: methods tagged with [`Release::CATEGORY`].
    Release = "release"
}

/// At most `MAX` requests that were not followed by a release, over all objects of the actor (PAM-L6).
///
/// ```
/// # use flockwork::{Access, CollectiveBound, Method, Rehearsal, Release, Request};
/// static METHODS: [Method; 2] = [
///     Method::new("request", Access::Reader).tagged(Request::CATEGORY),
///     Method::new("release", Access::Reader).tagged(Release::CATEGORY),
/// ];
///
/// let actor = Rehearsal::<CollectiveBound<2>, 4>::new(&METHODS);
/// let [first, second, third] = actor.post_each(["request"; 3]);
/// assert_eq!(actor.schedule(), [first, second]);
/// assert_eq!(actor.finish(first), []);
/// let release = actor.post("release");
/// assert_eq!(actor.schedule(), [release]);
/// assert_eq!(actor.finish(release), [third]);
/// ```
pub type CollectiveBound<const MAX: usize, Q = Request, L = Release> = Synchronizer<Bound<MAX, Q, L>>;

/// The rules of a [`CollectiveBound`]: how many requests were granted and not released yet.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bound<const MAX: usize, Q = Request, L = Release> {
    requests: usize,
    patterns: PhantomData<fn() -> (Q, L)>,
}

impl<const MAX: usize, Q: Pattern, L: Pattern> Rules for Bound<MAX, Q, L> {
    const NEW: Self = Self { requests: 0, patterns: PhantomData };

    fn rules(rules: &mut RuleBook<'_, Self>) {
        rules.when(Q::default()).update(|bound| bound.requests += 1);
        rules.when(L::default()).update(|bound| bound.requests = bound.requests.saturating_sub(1));
        rules.when(|bound: &Self| bound.requests >= MAX).disable(Q::default());
    }
}
