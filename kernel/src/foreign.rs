//! Threads that are no core's worker, on an operating system: what they ask the cores to visit.
//!
//! They have no ready set of their own, so they share one, under a lock; like a core's, it holds each actor once and is never too
//! small, so that a send from outside does not wait for a core. On a chip there are none, and nothing of this.

pub(crate) use threads::{ask, has_asked, take};

#[cfg(all(not(target_os = "none"), not(loom)))]
mod threads {
    #![expect(unsafe_code, reason = "shares a ready set between threads, under its lock")]

    use crate::cores::MAX_ACTORS;
    use crate::port::{self, LockWord};
    use crate::ready::ActorId;
    use crate::ready::{Ring, membership};
    use crate::sync::Guarded;

    struct Asked {
        lock: LockWord,
        member: [Guarded<u32>; MAX_ACTORS.div_ceil(32)],
        ring: Ring,
    }

    // SAFETY: `member` is used under the lock only; what is read without it is atomic.
    unsafe impl Sync for Asked {}

    static ASKED: Asked = Asked { lock: LockWord::new(), member: [const { Guarded::new(0) }; _], ring: Ring::new() };

    fn locked<R>(work: impl FnOnce() -> R) -> R {
        while !port::test_and_set(&ASKED.lock) {
            port::pause();
        }
        let result = work();
        ASKED.lock.clear();
        result
    }

    /// Asks for a visit. The sender's letter was published before: whoever takes the actor out after this sees it.
    pub(crate) fn ask(id: ActorId) {
        let (word, bit) = membership(&ASKED.member, id);
        locked(|| {
            if word.get() >> bit & 1 == 0 {
                word.set(word.get() | 1 << bit);
                ASKED.ring.push(id);
            }
        });
    }

    /// Takes one actor that is to be visited.
    pub(crate) fn take() -> Option<ActorId> {
        locked(|| {
            let id = ASKED.ring.pop()?;
            let (word, bit) = membership(&ASKED.member, id);
            word.set(word.get() & !(1 << bit));
            Some(id)
        })
    }

    /// Whether a foreign thread asks for a visit, as any core sees it, without the lock.
    #[inline(always)]
    pub(crate) fn has_asked() -> bool {
        !ASKED.ring.seems_empty()
    }
}

#[cfg(any(target_os = "none", loom))]
mod threads {
    use crate::ready::ActorId;

    pub(crate) fn ask(_: ActorId) {}

    #[inline(always)]
    pub(crate) fn take() -> Option<ActorId> {
        None
    }

    #[inline(always)]
    pub(crate) fn has_asked() -> bool {
        false
    }
}
