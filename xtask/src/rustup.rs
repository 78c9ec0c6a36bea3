//! What rustup adds when a step needs it: targets of the pinned toolchain, and nightly with its components.

use crate::{invocation::Invocation, step::Stop};
use std::path::Path;

/// The toolchain of the steps that need unstable tools. Nothing is shipped that was built with it.
pub(crate) const NIGHTLY: &str = "nightly";

/// Makes sure that the standard library of `target` is installed; fails with one line otherwise.
pub(crate) fn target(target: &str) -> Result<(), Stop> {
    // Asked of rustc, not of rustup: a toolchain may have come from elsewhere.
    let is_installed = || {
        Invocation::new("rustc", "--print target-libdir --target")
            .arg(target)
            .ask()
            .is_some_and(|folder| Path::new(folder.trim()).is_dir())
    };
    if is_installed() {
        return Ok(());
    }
    let add = Invocation::new("rustup", "target add").arg(target);
    let added = add.run();
    if is_installed() {
        return Ok(());
    }
    Err(match added {
        Ok(()) => Stop::Failed(format!("`{add}` did not install it for the rustc in use")),
        Err(_) if is_here() => Stop::Failed(format!("`{add}` failed: is this machine offline?")),
        Err(_) => Stop::Failed(format!("target {target} is missing, and so is rustup: install it from rustup.rs")),
    })
}

/// Makes sure that nightly has `components`; the step is skipped with one line otherwise.
pub(crate) fn nightly(components: &[&str]) -> Result<(), Stop> {
    if !is_here() {
        return Err(Stop::Skipped("needs a nightly toolchain: install rustup from rustup.rs".to_owned()));
    }
    let has_all = || {
        let list = Invocation::new("rustup", "component list --installed --toolchain").arg(NIGHTLY).ask();
        list.is_some_and(|list| components.iter().all(|name| list.lines().any(|line| names(line, name))))
    };
    if has_all() {
        return Ok(());
    }
    let install = Invocation::new("rustup", "toolchain install --profile minimal --component")
        .arg(components.join(","))
        .arg(NIGHTLY);
    match install.run() {
        Ok(()) if has_all() => Ok(()),
        _ => Err(Stop::Skipped(format!("needs nightly with {}: run `{install}`", components.join(" and ")))),
    }
}

/// The triple of this machine.
pub(crate) fn host() -> Result<String, Stop> {
    let version = Invocation::new("rustc", "-vV").ask();
    let host = version.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ")));
    host.map(str::to_owned).ok_or_else(|| Stop::Failed("`rustc -vV` did not name the host".to_owned()))
}

fn is_here() -> bool {
    Invocation::new("rustup", "--version").ask().is_some()
}

/// Whether a line of `rustup component list --installed` is about a component: its name, perhaps with a triple behind.
fn names(line: &str, component: &str) -> bool {
    line.trim().strip_prefix(component).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_known_with_and_without_a_triple() {
        assert!(names("miri-x86_64-unknown-linux-gnu", "miri"));
        assert!(names("rust-src", "rust-src"));
        assert!(!names("rustfmt-x86_64-unknown-linux-gnu", "rust"));
    }

    #[test]
    fn the_host_is_a_triple() {
        assert!(host().is_ok_and(|triple| triple.matches('-').count() >= 2));
    }
}
