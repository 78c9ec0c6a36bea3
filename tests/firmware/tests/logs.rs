//! What the examples that log with defmt log, decoded with the image as a tool of the user's would, and compared word for word.

use flockwork_emulator::Ended;
use flockwork_firmware_tests::Board;

/// The page that both images write.
const PAGE: [&str; 5] = [
    "INFO core 0 notes 0",
    "INFO core 1 notes 1",
    "INFO core 0 notes 2",
    "INFO core 1 notes 3",
    "INFO Report { refused_grants: 0, dropped: 0, letters: 0, high_water: 1, capacity: 2 }",
];

#[test]
fn what_is_logged_over_rtt_can_be_read_from_memory_and_so_can_last_words() {
    let mut board = Board::with("log-rtt");
    logs_a_page_and_last_words(&mut board);
    assert_eq!(board.log(), [""; 0], "what was read is gone");
}

#[test]
fn what_is_logged_over_a_serial_line_arrives_and_so_do_last_words() {
    logs_a_page_and_last_words(&mut Board::with("log-uart"));
}

/// Runs the image until it despairs, resets it, and runs it again.
fn logs_a_page_and_last_words(board: &mut Board) {
    assert_eq!(board.run(), Ended::Failed, "it despairs");
    assert_eq!(board.log(), PAGE);

    board.reset();
    assert_eq!(board.run(), Ended::Failed, "it despairs again");
    let lines = board.log();
    assert_eq!(
        lines[0],
        "ERROR core 1 died in logging::Scribe, letter despair: no more words, at checks/logs/src/lib.rs:24"
    );
    assert_eq!(lines[1..], PAGE);
}
