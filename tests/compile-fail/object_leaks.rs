// An object is borrowed for one turn and cannot be kept.
use std::cell::Cell;

use flockwork::{Several, actor};

struct Account(u64);
struct Bank {
    kept: Cell<Option<&'static mut Account>>,
}

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn keep(&self, account: &mut Account) {
        account.0 += 1;
        self.kept.set(Some(account));
    }
}

fn main() {}
