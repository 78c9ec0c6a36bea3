// An id knows which kind of object it names.
use flockwork::{Actor, Id, Serial, Several, actor};

struct Account(u64);
struct Customer;
struct Bank;

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn deposit(&self, account: &mut Account, amount: u64) {
        account.0 += amount;
    }
}

#[actor]
static BANK: Actor<Bank, Serial, 8> = (Bank, Several::new([const { Account(0) }; 4]));

fn main() {
    let _ = BANK.deposit(Id::<Customer>::new(0), 1).tell();
}
