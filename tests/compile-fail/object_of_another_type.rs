// Only the actor's own objects can be borrowed.
use flockwork::{Several, actor};

struct Account(u64);
struct Customer(u64);
struct Bank;

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn open(&self, account: &mut Account, owner: &Customer) {
        account.0 = owner.0;
    }
}

fn main() {}
