// A turn ends, so nothing is borrowed for `'static`.
use flockwork::{Several, actor};

struct Account(u64);
struct Bank(u64);

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn keep(&self, account: &'static mut Account) {
        account.0 += self.0;
    }

    pub fn stay(&'static self) -> u64 {
        self.0
    }
}

fn main() {}
