//! What must not compile does not, and the message says what to do. One hazard per file.
//!
//! After a change that improves a message or adds a monitor (rustc lists them):
//! `TRYBUILD=overwrite cargo test -p flockwork-tests --test compile_fail`, and read the difference.
#![cfg(not(loom))]

#[test]
fn hazards_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
    cases.pass("compile-fail/pass/*.rs");
}
