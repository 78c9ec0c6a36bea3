//! Several objects in one actor: letters that name different accounts run at once, letters that share one never do.

use flockwork::{Actor, Eventually, Id, Resources, Several, actor};

/// One account.
pub struct Account {
    balance: u64,
}

/// The bank itself holds only what all accounts share.
pub struct Bank {
    fee: u64,
}

/// There is not enough money in the account.
#[derive(Debug)]
pub struct Short {
    /// What is missing.
    pub by: u64,
}

// `&mut Account` in a signature is the key: the caller passes an `Id<Account>`, the method gets that very account.
#[actor(objects = Several<Account, 4>)]
impl Bank {
    /// Moves money, for a fee.
    pub fn transfer(&self, from: &mut Account, to: &mut Account, amount: u64) -> Result<u64, Short> {
        let cost = amount + self.fee;
        from.balance = from.balance.checked_sub(cost).ok_or_else(|| Short { by: cost - from.balance })?;
        to.balance += amount;
        Ok(from.balance)
    }

    /// What is in an account; any number of letters may look at once.
    pub fn check(&self, account: &Account) -> u64 {
        account.balance
    }

    /// What is in all of them; this one runs alone.
    pub fn total(&mut self, all: &mut Several<Account, 4>) -> u64 {
        all.iter_mut().map(|account| account.balance).sum()
    }
}

#[actor]
static BANK: Actor<Bank, Resources, 16> = (Bank { fee: 1 }, Several::new([const { Account { balance: 100 } }; 4]));

const ANN: Id<Account> = Id::new(0);
const BEN: Id<Account> = Id::new(1);
const CYD: Id<Account> = Id::new(2);
const DAN: Id<Account> = Id::new(3);

pub(crate) fn main() {
    flockwork_host_sim::program(2, || {
        // These two have no account in common: they can run at the same moment.
        let ann = BANK.transfer(ANN, BEN, 30).ask().expect("an empty mailbox has room");
        let cyd = BANK.transfer(CYD, DAN, 50).ask().expect("an empty mailbox has room");
        println!("Ann and Cyd have left: {:?}", ann.join(cyd).get());

        println!("Ann wants to give Ben 200: {:?}", BANK.transfer(ANN, BEN, 200).get());
        println!("Ben has {:?}", BANK.check(BEN).get());
        println!("All of them have {:?}", BANK.total().get());

        // A letter that could never run is refused at once.
        println!("Ann to Ann: {}", BANK.transfer(ANN, ANN, 1).get().unwrap_err().map(|short: Short| short.by));
    });
}
