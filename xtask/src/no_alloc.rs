//! The check that nothing in the kernel's dependency tree needs an allocator, and that the check can fail.
//!
//! The probe (`tests/no-alloc-probe`) links the kernel into a static library for a board, without an allocator. Then:
//!
//! 1. rustc itself refuses such a library as soon as any crate in it links `alloc`, used or not;
//! 2. unless some crate brings an allocator along, so the library is searched for the symbol of one.
//!
//! Both are tried on the probe with a fault built in, and must find it.

use crate::{invocation::Invocation, rustup, step::Stop, targets::VARIANTS};

const TARGET: &str = "thumbv6m-none-eabi";
const TARGET_DIR: &str = "target/no-alloc";
const LIBRARY: &str = "target/no-alloc/thumbv6m-none-eabi/debug/libflockwork_no_alloc_probe.a";

/// What rustc says to a library that links `alloc` without an allocator.
const REFUSAL: &str = "no global memory allocator found";

/// Part of the (mangled) name of every allocator's entry.
const ENTRY: &[u8] = b"__rust_alloc";

pub(crate) fn check() -> Result<(), Stop> {
    rustup::target(TARGET)?;
    for variant in VARIANTS {
        probe(variant.args).run()?;
        if has_allocator()? {
            return fail(&format!(
                "an allocator is linked into the probe ({}): `cargo tree` shows by whom",
                variant.name
            ));
        }
    }

    println!("  now the faulty probes, which must be found out");
    let refused = probe(&["--features", "fault-links-alloc"]).output()?;
    let message = String::from_utf8_lossy(&refused.stderr);
    if refused.status.success() || !message.contains(REFUSAL) {
        print!("{message}");
        return fail(&format!("a probe that links `alloc` was not refused with `{REFUSAL}`"));
    }
    probe(&["--features", "fault-brings-allocator"]).run()?;
    if !has_allocator()? {
        return fail("the allocator in the faulty probe was not found: the search is blind");
    }
    Ok(())
}

fn probe(features: &[&str]) -> Invocation {
    Invocation::cargo("rustc -p flockwork-no-alloc-probe --lib --crate-type staticlib")
        .args(["--target", TARGET, "--target-dir", TARGET_DIR])
        .args(features)
}

fn has_allocator() -> Result<bool, Stop> {
    let library = std::fs::read(LIBRARY).map_err(|error| Stop::Failed(format!("{LIBRARY} cannot be read: {error}")))?;
    let found = contains(&library, ENTRY);
    println!("  an allocator in {LIBRARY}: {}", if found { "yes" } else { "no" });
    Ok(found)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn fail<T>(why: &str) -> Result<T, Stop> {
    Err(Stop::Failed(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_found_inside_a_mangled_name() {
        assert!(contains(b"\0_RNvCs1_7___rustc12___rust_alloc\0", ENTRY));
        assert!(!contains(b"\0_RNvCs1_7___rustc\0__rust_al", ENTRY));
        assert!(!contains(b"", ENTRY));
    }
}
