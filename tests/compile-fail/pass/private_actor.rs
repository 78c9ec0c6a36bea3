// An actor of a private module, under strict lints.
#![deny(unsafe_code, missing_docs, unreachable_pub, warnings)]
//! Everything private.

use flockwork_host_sim as _;

mod inner {
    use flockwork::{Actor, Serial, actor};

    pub(super) struct Amount(u32);

    pub(super) struct Counter(u32);

    #[actor]
    impl Counter {
        pub fn add(&mut self, amount: Amount) -> Amount {
            self.0 += amount.0;
            Amount(self.0)
        }

        #[deprecated]
        pub fn reset(&mut self) {
            self.0 = 0;
        }
    }

    #[actor]
    pub(super) static COUNTER: Actor<Counter, Serial, 8> = Counter(0);

    pub(super) fn use_it() {
        let _ = COUNTER.add(Amount(1));
        #[expect(deprecated)]
        let _ = COUNTER.reset();
    }
}

fn main() {
    inner::use_it();
    let _ = &inner::COUNTER;
}
