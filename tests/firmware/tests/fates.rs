//! What becomes of images that go wrong: each leaves its last words in memory, and the next boot reports them over the serial
//! line.

use flockwork_board_support::epitaph::{self, Cause, Epitaph};
use flockwork_emulator::{Ended, profile::Names};
use flockwork_firmware_tests::Board;
use object::{Object, ObjectSection, SectionFlags};

/// Runs an image to its end, resets it, and runs it again: what the core left in memory, and what the next boot said of it.
fn fate_of(image: &str, core: u32) -> (Epitaph, String) {
    let mut board = Board::with(image);
    assert_eq!(board.run(), Ended::Failed);
    assert_eq!(board.text(), "", "there was nothing to report yet");
    let epitaph = board.epitaph(core).expect("it left an epitaph");
    assert_eq!(board.epitaph(1 - core), None, "the other core did not die");

    board.reset();
    assert_eq!(board.run(), Ended::Passed);
    assert_eq!(board.epitaph(core), None, "what was reported is gone");
    (epitaph, board.text())
}

#[test]
fn a_panic_in_a_turn_names_the_core_the_actor_the_letter_and_the_place() {
    let (epitaph, report) = fate_of("panic-in-turn", 1);
    assert_eq!(
        report,
        "core 1 died in panic_in_turn::Words, letter get: index out of bounds: the len is 3 but the index is 7, \
         at checks/fates/src/bin/panic_in_turn.rs:16\n"
    );
    assert_eq!(format!("{epitaph}\n"), report);
}

#[test]
fn a_panic_in_a_panic_does_not_go_round_in_circles() {
    let (_, report) = fate_of("panic-in-panic", 0);
    assert!(report.starts_with("core 0 died outside a turn: the message of a panic panicked, at "), "{report}");
}

#[test]
fn a_fault_in_a_turn_names_the_instruction_too() {
    let (epitaph, report) = fate_of("fault-in-turn", 0);
    assert!(report.starts_with("core 0 died in fault_in_turn::Daredevil, letter jump: fault at pc 0x1000"), "{report}");
    let Cause::Fault(registers) = epitaph.cause else { panic!("not a fault: {epitaph}") };
    let board = Board::with("fault-in-turn");
    let function = Names::of(board.image()).at(registers.pc, 2);
    assert!(function.contains("Daredevil::jump"), "{function}");
    assert!((0x2000_0000..0x2004_2000).contains(&registers.sp), "{epitaph}");
}

#[test]
fn the_smallest_stack_leaves_room_for_last_words() {
    let (_, report) = fate_of("panic-on-small-stack", 1);
    assert!(
        report.starts_with(
            "core 1 died in panic_on_small_stack::Grumbler, letter bear: \
             who could bear Weather { degrees: -7, hours_of_sun: Some(0) }?, at "
        ),
        "{report}"
    );
}

/// The emulator has no guard, so a stack that is too small would go unnoticed but for what it overwrites.
#[test]
fn the_smallest_stack_is_large_enough_and_so_is_the_last_one() {
    let mut board = Board::with("panic-on-small-stack");
    assert_eq!(board.run(), Ended::Failed);
    let untouched = |board: &Board, start: u32, size: usize, filling: &[u8; 4]| {
        board.memory(start, size).as_chunks().0.iter().take_while(|word| *word == filling).count() * 4
    };
    let (stack, size) = board.place_of("panic_on_small_stack::CORE1_STACK");
    let paint = 0xC0DE_F10C_u32.to_le_bytes();
    // The lowest 64 bytes are left to the guard, and not painted.
    let free = untouched(&board, stack + 64, size - 64, &paint);
    assert!(free >= 64, "{free} bytes of core 1's stack are left");

    // Memory of the emulator is zero at first.
    let (remains, size) = board.place_of("FLOCKWORK_EPITAPHS");
    let last_stack = remains + size as u32 - epitaph::LAST_STACK as u32;
    let free = untouched(&board, last_stack, epitaph::LAST_STACK, &[0; 4]);
    assert!(free >= epitaph::LAST_STACK / 4, "{free} bytes of core 1's last stack are left");
}

#[test]
fn a_stack_that_overflowed_says_so_on_either_core() {
    for core in [0, 1] {
        let (_, report) = fate_of(&format!("overflow-on-core-{core}"), core);
        let expected =
            format!("core {core} died in flockwork_check_fates::Diver, letter dive: the stack overflowed, at sp 0x20");
        assert!(report.starts_with(&expected), "{report}");
    }
}

#[test]
fn actors_too_many_are_refused_at_boot_with_the_number_there_may_be() {
    let (_, report) = fate_of("too-many-actors", 0);
    let expected =
        "core 0 died outside a turn: this program has 40 actors, more than the 32 that the kernel's table holds";
    assert!(report.starts_with(expected), "{report}");
}

/// The other side of the refusal: every actor of an image is counted once, and an image may have as many as fit.
#[test]
fn actors_are_counted_by_the_linker_and_take_no_flash() {
    for (image, actors) in [("panic-in-turn", 1), ("too-many-actors", 40), ("single-core", 0)] {
        let board = Board::with(image);
        let file = object::File::parse(board.image().elf()).expect("an ELF file");
        let section = file.section_by_name("flockwork_actors").expect("the kernel looks for it");
        assert_eq!(section.size(), actors, "{image}");
        let SectionFlags::Elf { sh_flags } = section.flags() else { panic!("an ELF file") };
        assert_eq!(sh_flags & u64::from(object::elf::SHF_ALLOC), 0, "{image}: it is not loaded");
    }
}

#[test]
fn a_single_core_critical_section_is_refused_at_boot() {
    let (_, report) = fate_of("single-core", 0);
    assert!(report.contains("the critical section in this image is a single-core one"), "{report}");
}

#[test]
fn stack_marks_tell_how_deep_a_turn_went() {
    let mut board = Board::with("deep-stack");
    assert_eq!(board.run(), Ended::Passed, "{}", board.text());
}
