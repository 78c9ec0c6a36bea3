// A method that runs alone has all objects already.
use flockwork::{Several, actor};

struct Account(u64);
struct Bank;

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn deposit(&mut self, account: &mut Account, amount: u64) {
        account.0 += amount;
    }
}

fn main() {}
