//! The steps of the kernel's protocols that have a name, so that each can be taken away.
//!
//! Every ordering, fence and re-check that an argument rests on is a [`Mutant`]. Under loom one of them can be switched off, and the model
//! that rests on it must then fail; natively the question [`removed`] is the constant `false` and costs nothing.

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One weakening of the kernel's protocols: an ordering made relaxed, a fence or a re-check left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(not(loom), expect(unreachable_pub, reason = "named by the models only"))]
        #[cfg_attr(not(loom), expect(dead_code, reason = "some steps are those of the other kind of ready set"))]
        pub enum Mutant {
            $($(#[$doc])* $name,)*
        }

        #[cfg(loom)]
        impl Mutant {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

mutants! {
    /// `Lane::publish`: the count of sent letters is stored relaxed, so a letter's content may lag behind it.
    LaneSentRelaxed,
    /// `Lane`: the receiver reads the count of sent letters relaxed.
    LaneSentReadRelaxed,
    /// `Lane::free`: the count of freed slots is stored relaxed, so a sender may overwrite a slot still being read.
    LaneFreedRelaxed,
    /// `Lane`: the sender reads the count of freed slots relaxed.
    LaneFreedReadRelaxed,
    /// `Lane::room`: one slot too many is taken for free.
    LaneOneTooMany,
    /// `Mail::drain`: lanes seen empty are not read again after a letter was found elsewhere.
    CutNotRepeated,
    /// `Office::next_row`: readers are taken although another lane may have a writer, which may be older.
    WriterPassed,
    /// `Mail::oldest`: lanes seen empty are not read again after an older letter than before was found elsewhere.
    OldestNotRepeated,
    /// The stamp is the sender's own lane's tail instead of the sum of all tails.
    StampOwnLaneOnly,
    /// A lock is released with a relaxed store.
    UnlockRelaxed,
    /// `Desk::enter`: no bell is rung after a failed try.
    BellNotRung,
    /// `Desk::enter`: no fence between the event and the bell.
    BellFence,
    /// `Desk::enter`: the bell is rung, but the lock is not tried a second time.
    NoSecondTry,
    /// `Desk::enter`: no fence between the bell and the second try.
    RingFence,
    /// `Desk::begin_round`: no fence between lowering the bell and looking for events.
    BellLookFence,
    /// `Desk::exit`: no fence between unlocking and looking at the bell, and at who wants room.
    ExitFence,
    /// `Desk::exit`: the bell is not looked at after unlocking.
    BellNotSeen,
    /// A reader's end is not said although the lock was not had at once: nobody hears of it.
    EndNotSaid,
    /// A reader's end is published with a relaxed store, so the writer after it may overlap its reads.
    DoneRelaxed,
    /// The holder of the lock reads that a letter has ended relaxed.
    DoneReadRelaxed,
    /// How many letters of its share a core has run is published relaxed, so the writer after them may overlap their reads.
    ShareRunRelaxed,
    /// A core does not fence between saying how many letters of its share it has run and looking whether the others are wanted.
    ShareRunFence,
    /// Whoever wants the letters of a share does not fence before it looks how many were run.
    ShareWantedFence,
    /// Whoever wants the letters of a share takes the one as well that may have begun.
    ShareBegunTaken,
    /// The gate grants a writer although readers run.
    GateIgnoresReaders,
    /// The gate grants readers although a writer was granted.
    GateIgnoresWriter,
    /// A guest goes by a relaxed store, so the writer after it may overlap its reads.
    GuestGoneRelaxed,
    /// Whoever would be alone in the gate reads relaxed how many guests there are.
    GuestsReadRelaxed,
    /// A guest does not fence between going and looking whether somebody waits for that.
    GuestGoneFence,
    /// Whoever waits for guests to go does not fence between saying so and looking again.
    GuestsAwaitedFence,
    /// The monitor is not asked again after guests were in the way of a letter.
    GuestsForgotten,
    /// A promise is resolved with a relaxed store, so its value may lag behind.
    ResolveRelaxed,
    /// The holder reads the resolution relaxed.
    ResolveReadRelaxed,
    /// A slot is closed with a relaxed store, so its next use may overlap the last read.
    CloseRelaxed,
    /// The pool reads that a slot is resolved relaxed, so what its answer left there may lag behind.
    ReuseResolvedReadRelaxed,
    /// The pool reads that a slot is closed relaxed, so its next use may overlap the last read.
    ReuseClosedReadRelaxed,
    /// A slot is reused as soon as its promise is closed, although its token is still out.
    ReuseWithoutResolver,
    /// A slot is reused as soon as it is resolved, although its promise is still held.
    ReuseWithoutHolder,
    /// The resolver does not fence between resolving and looking for a waiter.
    ResolveFence,
    /// The waiter does not look at the slot again after saying that it waits.
    WaitNotRechecked,
    /// The waiter does not fence between saying that it waits and looking again.
    WaitFence,
    /// A sender that wants room does not fence before it says so to all.
    RoomWantedFence,
    /// Whoever tells of room does not fence between taking the want back and looking who it was.
    RoomLookFence,
    /// A sender that wants room does not fence before it looks again.
    RoomFence,
    /// A sender that wants room does not look again.
    RoomNotRechecked,
    /// Who wants room is forgotten after it was told of it, not before: its next want is lost.
    RoomForgottenLate,
    /// A turn that waits does not tell of the room that its letter has left.
    WaitRoomNotTold,
    /// A turn that waits does not fence before it looks who wants room.
    WaitRoomFence,
    /// A task that wants a promise slot does not fence before it looks again.
    PromiseWantedFence,
    /// Whoever frees a promise slot does not fence before it looks who wants one.
    PromiseFreedFence,
    /// The lanes of an actor are opened relaxed, so its number and its entry in the table may lag behind.
    NumberRelaxed,
    /// Whether lanes are open is read relaxed.
    NumberReadRelaxed,
    /// `Ready::note`: an actor is put into a ready set relaxed, so what others find by its number may lag behind.
    NotedRelaxed,
    /// `Ready::look`: another core reads a ready set relaxed.
    NotedReadRelaxed,
    /// `Ready::offer` (bits): no fence between what is in a set and saying that it is offered again.
    OfferedFence,
    /// A core does not fence between lowering that it was offered something again and looking at the others' sets.
    OfferedLookFence,
    /// `go_on` (bits): what was offered of an actor is taken back also while its letters wait, when nobody looks into the lanes after it.
    OfferTakenBack,
    /// `Invitations::push` (bits): no fence between the letter and the look whether its actor is invited already.
    InviteFence,
    /// `Invitations::take` (bits): no fence between taking an invitation and the visit.
    InviteTakenFence,
    /// `Invitations::push` (rings): an invitation is published with a relaxed store, so its entry may lag behind.
    InviteRelaxed,
    /// `Invitations::take` (rings): the invited core reads the count of invitations relaxed.
    InviteReadRelaxed,
    /// `Invitations::take` (rings): that an invitation was taken is published relaxed.
    InviteTakenRelaxed,
    /// `Invitations::push` (rings): the inviting core reads the count of those taken relaxed.
    InviteTakenReadRelaxed,
    /// A core goes idle without a last look at its invitations.
    IdleNotRechecked,
    /// A core announces that it is idle only after its last look.
    IdleAnnouncedLate,
    /// A core that goes idle does not fence between saying so and its last look.
    IdleFence,
    /// A core with surplus does not fence before it looks for an idle core.
    OfferFence,
    /// A core with surplus does not kick the idle core it found.
    OfferWithoutKick,
    /// A notice is raised, but its core is not kicked.
    NoticeWithoutKick,
    /// A notice is raised without a fence after what it announces.
    NoticeFence,
    /// No fence between saying that a task may go on and raising the notice.
    AnsweredFence,
    /// A core does not fence between clearing its notice and looking at what was announced.
    NoticeLookFence,
    /// A core clears its notice after it looked at what was announced, not before.
    NoticeClearedLate,
}

/// Whether the active mutant takes this step of a protocol away. Always false outside the models.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn removed(_: Mutant) -> bool {
    false
}

#[cfg(loom)]
pub(crate) fn removed(step: Mutant) -> bool {
    use std::sync::OnceLock;
    static ACTIVE: OnceLock<Option<Mutant>> = OnceLock::new();
    let active = ACTIVE.get_or_init(|| {
        let name = std::env::var("FLOCKWORK_MUTANT").ok()?;
        let mutant = Mutant::ALL.iter().find(|mutant| std::format!("{mutant:?}") == name);
        Some(*mutant.unwrap_or_else(|| panic!("there is no mutant `{name}`")))
    });
    *active == Some(step)
}
