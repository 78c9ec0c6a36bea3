//! Several objects in one actor: letters that name a common object never overlap, letters that name different ones do.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "the actors of a test are nobody's API")]

mod support;

use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use flockwork::{
    Actor, Id, Inbox, Letter, Monitor, Mutex, Parallel, ReadersWriter, Ref, Resources, Serial, Several, actor,
};
use support::{Careless, Meeting, Occupancy, device, insist, insist_outside, lock, require, run_until};

const ACCOUNTS: u8 = 4;
const FUNDS: u64 = 1000;

pub struct Account {
    balance: u64,
    occupancy: Occupancy,
}

type Accounts = Several<Account, { ACCOUNTS as usize }>;

const fn accounts() -> Accounts {
    Several::new([const { Account { balance: FUNDS, occupancy: Occupancy::new() } }; ACCOUNTS as usize])
}

pub struct Bank {
    transfers: AtomicU32,
    whole: Occupancy,
}

impl Bank {
    const fn new() -> Self {
        Self { transfers: AtomicU32::new(0), whole: Occupancy::new() }
    }
}

/// Where turns meet to show that they overlap.
static LOBBY: Meeting = Meeting::new();

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn transfer(&self, from: &mut Account, to: &mut Account, amount: u64) -> Result<u64, u64> {
        self.whole.read(|| {
            let (Account { balance: from, occupancy: one }, Account { balance: to, occupancy: other }) = (from, to);
            one.write(|| {
                other.write(|| {
                    self.transfers.fetch_add(1, SeqCst);
                    if *from < amount {
                        return Err(*from);
                    }
                    // In two steps, with time between: an overlap would show in the total.
                    let rest = *from - amount;
                    std::hint::spin_loop();
                    *to += amount;
                    *from = rest;
                    Ok(rest)
                })
            })
        })
    }
    pub fn check(&self, account: &Account) -> u64 {
        self.whole.read(|| account.occupancy.read(|| account.balance))
    }
    pub fn compare(&self, one: &Account, other: &mut Account) -> bool {
        self.whole.read(|| {
            one.occupancy.read(|| {
                let Account { balance, occupancy } = other;
                occupancy.write(|| one.balance < *balance)
            })
        })
    }
    pub fn total(&mut self, all: &mut Several<Account, 4>) -> u64 {
        self.whole.write(|| all.iter_mut().map(|account| account.balance).sum())
    }
    pub fn transfers(&self) -> u32 {
        self.transfers.load(SeqCst)
    }
    /// Waits with two accounts in hand until so many are here.
    pub fn meet_with(&self, one: &mut Account, other: &mut Account, people: usize) {
        let (one, other) = (&one.occupancy, &other.occupancy);
        one.write(|| other.write(|| LOBBY.meet(people)));
    }
    pub fn meet_reading(&self, account: &Account, people: usize) {
        account.occupancy.read(|| LOBBY.meet(people));
    }
}

/// Sends transfers from whatever core it runs on.
pub struct Customer {
    bank: Ref<Bank>,
    dice: u32,
    left: u32,
}

impl Customer {
    const fn new(bank: Ref<Bank>, dice: u32) -> Self {
        Self { bank, dice, left: 0 }
    }
}

fn roll(dice: &mut u32) -> u32 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 17;
    *dice ^= *dice << 5;
    *dice
}

/// One random letter to the bank; whether it was accepted.
fn deal(bank: Ref<Bank>, dice: &mut u32) -> bool {
    let from = roll(dice) as u8 % ACCOUNTS;
    let to = (from + 1 + roll(dice) as u8 % (ACCOUNTS - 1)) % ACCOUNTS;
    let (from, to) = (Id::new(from), Id::new(to));
    match roll(dice) % 8 {
        0 => bank.check(from).tell().is_ok(),
        1 => bank.compare(from, to).tell().is_ok(),
        2 => bank.total().tell().is_ok(),
        _ => bank.transfer(from, to, u64::from(roll(dice) % 300)).tell().is_ok(),
    }
}

#[actor]
impl Customer {
    pub fn shop(&mut self, me: Ref<Customer>, letters: u32) {
        self.left += letters;
        for _ in 0..8 {
            if self.left > 0 && deal(self.bank, &mut self.dice) {
                self.left -= 1;
            }
        }
        if self.left > 0 {
            require(me.shop(me, 0).tell().is_ok(), "it has one letter to itself");
        }
    }
    pub fn left(&self) -> u32 {
        self.left
    }
}

/// SAFE-2, PAM-12: whatever the monitor, on 1 to 4 cores: no letter meets another at an account, and no money is lost.
#[test]
fn transfers_conserve_money_safe_2_pam_12() {
    macro_rules! bank {
        ($monitor:ty) => {{
            #[actor]
            static BANK: Actor<Bank, $monitor, 8> = (Bank::new(), accounts());
            #[actor]
            static ONE: Actor<Customer, Serial, 4> = Customer::new(&BANK, 7);
            // One that runs, one to itself, one from `main`: under a monitor a letter keeps its slot until it has left.
            #[actor]
            static OTHER: Actor<Customer, Mutex, 4> = Customer::new(&BANK, 11);
            let report: &'static dyn flockwork::Post<Bank> = &BANK.body;
            (stringify!($monitor), &BANK as Ref<Bank>, [&ONE as Ref<Customer>, &OTHER], report)
        }};
    }
    const EACH: u32 = 1500;
    for (monitor, bank, customers, report) in
        [bank!(Resources), bank!(ReadersWriter), bank!(Mutex), bank!(Serial), bank!(Careless)]
    {
        for cores in [1, 2, 4] {
            device(cores, || {
                for customer in customers {
                    customer.shop(customer, EACH).tell().unwrap();
                }
                let outside = thread::spawn(move || {
                    let mut dice = 13;
                    for _ in 0..EACH {
                        insist_outside(|| if deal(bank, &mut dice) { Ok(()) } else { Err(()) });
                    }
                });
                let mut dice = 17;
                for _ in 0..EACH {
                    insist(|| if deal(bank, &mut dice) { Ok(()) } else { Err(()) });
                }
                run_until(|| outside.is_finished() && customers.iter().all(|customer| customer.left().get() == Ok(0)));
                run_until(|| report.report().letters == 0);
                outside.join().unwrap();
                assert_eq!(bank.total().get(), Ok(u64::from(ACCOUNTS) * FUNDS), "{monitor} on {cores} cores");
            });
        }
        let refused = report.report().refused_grants;
        assert_eq!(refused > 0, matches!(monitor, "Careless" | "ReadersWriter"), "{monitor}: {refused} refused");
    }
}

/// SAFE-2: letters that name different accounts, and readers of one account, run in parallel.
#[test]
fn disjoint_objects_overlap_safe_2() {
    #[actor]
    static BANK: Actor<Bank, Resources, 8> = (Bank::new(), accounts());
    let [a, b, c, d] = [0, 1, 2, 3].map(Id::new);
    for cores in [2, 4] {
        device(cores, || {
            for _ in 0..20 {
                LOBBY.clear();
                BANK.meet_with(a, b, 2).tell().unwrap();
                BANK.meet_with(c, d, 2).tell().unwrap();
                run_until(|| flockwork::Report::of(&BANK).letters == 0);
                LOBBY.clear();
                BANK.meet_reading(a, 2).tell().unwrap();
                BANK.meet_reading(a, 2).tell().unwrap();
                run_until(|| flockwork::Report::of(&BANK).letters == 0);
                LOBBY.clear();
                BANK.meet_reading(a, 2).tell().unwrap();
                BANK.meet_with(c, b, 2).tell().unwrap();
                run_until(|| flockwork::Report::of(&BANK).letters == 0);
            }
        });
    }
    assert_eq!(flockwork::Report::of(&BANK).refused_grants, 0, "`Resources` knows which are free");
}

/// PAM-12: one monitor coordinates all objects of its actor, and `receiver` tells it which one a letter is for.
#[test]
fn a_monitor_sees_the_receiver_pam_12() {
    static SEEN: Lock<Vec<(&'static str, Option<usize>)>> = Lock::new(Vec::new());
    /// Notes what it grants, oldest first, one at a time.
    struct Noting(bool);
    impl Monitor for Noting {
        type Discipline = Parallel;
        const NEW: Self = Self(false);
        fn schedule(&mut self, inbox: Inbox<'_>) {
            if let Some(letter) = inbox.letters().next().filter(|_| !self.0) {
                lock(&SEEN).push((letter.method(), letter.receiver()));
                require(letter.claims().names(1) == (letter.method() == "transfer"), "all objects it names are told");
                self.0 = inbox.execute(letter);
            }
        }
        fn leave(&mut self, letter: Letter<'_>) {
            lock(&SEEN).push(("leave", letter.receiver()));
            self.0 = false;
        }
    }
    #[actor]
    static BANK: Actor<Bank, Noting, 8> = (Bank::new(), accounts());
    device(2, || {
        BANK.transfer(Id::new(3), Id::new(1), 5).tell().unwrap();
        BANK.check(Id::new(2)).tell().unwrap();
        assert_eq!(BANK.total().get(), Ok(u64::from(ACCOUNTS) * FUNDS));
        run_until(|| flockwork::Report::of(&BANK).letters == 0);
    });
    let seen = lock(&SEEN).clone();
    let leave = "leave";
    let wanted =
        [("transfer", Some(3)), (leave, Some(3)), ("check", Some(2)), (leave, Some(2)), ("total", None), (leave, None)];
    assert_eq!(seen, wanted);
}
