// A method that shares the actor cannot have all objects.
use flockwork::{Several, actor};

struct Account(u64);
struct Bank;

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn clear(&self, all: &mut Several<Account, 4>) {
        for account in all.iter_mut() {
            account.0 = 0;
        }
    }
}

fn main() {}
