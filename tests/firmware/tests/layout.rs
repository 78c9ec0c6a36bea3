//! The parts of an actor add up to what the linker reserved for it.

use flockwork_firmware_tests::{Board, layout};

#[test]
fn the_parts_of_an_actor_are_what_its_statics_take() {
    let board = Board::with("panic-in-turn");
    let elf = board.image().elf();
    let size_of = |path: &str| board.place_of(path).1 as u64;

    let actors = layout::actors(elf).expect("the kernel's structs are known");
    let [words] = &actors[..] else { panic!("one actor: {actors:?}") };
    assert_eq!((words.name.as_str(), words.state, words.monitor), ("panic_in_turn::WORDS", 3, 0));
    assert!(words.letters > 0 && words.promises > 0 && words.rest > 0, "{words:?}");
    let parts = words.state + words.monitor + words.letters + words.promises + words.rest;
    assert_eq!(parts, size_of("panic_in_turn::WORDS") + size_of("panic_in_turn::WORDS::MAIL"));
}

#[test]
fn a_file_without_debug_information_is_no_silent_zero() {
    assert!(layout::actors(b"").is_err());
}
