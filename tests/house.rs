//! Rules of the house that the compiler does not know.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file, without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file");
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// SAFE-3: no example needs `unsafe` or `static mut`.
#[test]
fn examples_are_safe_safe_3() {
    let mut examples = Vec::new();
    sources(&root().join("examples"), &mut examples);
    assert!(examples.len() >= 7, "the examples are where they were");
    for path in examples {
        let code = code(&path);
        for word in ["unsafe", "static mut"] {
            assert!(!code.contains(word), "{} uses `{word}`", path.display());
        }
    }
}

/// SAFE-3: what `#[actor]` writes holds no `unsafe` (its users' crates may forbid it).
#[test]
fn the_expansion_is_safe_safe_3() {
    let mut files = Vec::new();
    sources(&root().join("kernel/macros/src"), &mut files);
    assert!(files.len() >= 3, "the macros are where they were");
    for path in files {
        // The macro names `unsafe` methods to refuse them; it never quotes an `unsafe` block.
        assert!(!code(&path).contains("unsafe {"), "{} writes an unsafe block", path.display());
    }
}

/// The boards have a toolchain file of their own, for their targets; it names the same toolchain.
#[test]
fn boards_are_built_with_the_same_toolchain() {
    let channel = |file: &str| {
        let text = fs::read_to_string(root().join(file)).expect("a toolchain file");
        text.lines().find(|line| line.starts_with("channel")).expect("a channel").to_owned()
    };
    assert_eq!(channel("boards/rust-toolchain.toml"), channel("rust-toolchain.toml"));
}

/// Whoever links the library of a board compiles nothing that only measures, tests or shows.
#[test]
fn libraries_of_boards_need_no_tests_and_no_examples() {
    for board in ["rp", "rp2040", "rp2350", "mps2-an521", "support"] {
        let manifest = fs::read_to_string(root().join("boards").join(board).join("Cargo.toml")).expect("a manifest");
        for word in ["../tests/", "../examples/", "heapless", "embassy-sync"] {
            assert!(!manifest.contains(word), "boards/{board} depends on `{word}`");
        }
    }
}

/// Atomics, `portable_atomic` and loom are named in `sync` alone, the executor in `worker` alone.
#[test]
fn seams_are_named_in_one_file() {
    let mut kernel = Vec::new();
    sources(&root().join("kernel/src"), &mut kernel);
    for path in kernel {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let code = code(&path);
        for (word, home) in [
            ("sync::atomic", "sync.rs"),
            ("portable_atomic", "sync.rs"),
            ("loom::", "sync.rs"),
            ("embassy_executor", "worker.rs"),
            ("critical_section", "sync.rs"),
        ] {
            assert!(name == home || !code.contains(word), "{} names `{word}`", path.display());
        }
    }
}
