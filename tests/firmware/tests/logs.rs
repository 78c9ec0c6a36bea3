//! What images log with defmt, decoded with the image as a tool of the user's would, and compared word for word.

use defmt_decoder::{DecodeError, Table};
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

/// The frames in a stream, each as its level and its message.
fn decoded(board: &Board, stream: &[u8]) -> Vec<String> {
    let table = Table::parse(board.image().elf()).expect("a table of this version").expect("the image has texts");
    let mut decoder = table.new_stream_decoder();
    decoder.received(stream);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("", |level| level.as_str());
                lines.push(format!("{} {}", level.to_uppercase(), frame.display_message()));
            }
            Err(DecodeError::UnexpectedEof) => return lines,
            Err(DecodeError::Malformed) => panic!("a broken frame after {lines:?}"),
        }
    }
}

#[test]
fn what_is_logged_over_rtt_can_be_read_from_memory() {
    let mut board = Board::with("log-rtt");
    assert_eq!(board.run(), Ended::Passed);
    let stream = rtt(&board);
    assert_eq!(decoded(&board, &stream), PAGE);
}

/// What is in the first channel to the host, by the layout that every probe knows: a mark of 16 bytes, two counts of channels,
/// then for each channel its name, its buffer, the size of that, where is written next and where is read next.
fn rtt(board: &Board) -> Vec<u8> {
    let block = board.image().symbol("_SEGGER_RTT").expect("the image logs over RTT");
    assert_eq!(board.memory(block, 10), b"SEGGER RTT");
    let word = |index: u32| u32::from_le_bytes(board.memory(block + 4 * index, 4).try_into().expect("four bytes"));
    let (channels, buffer, written, read) = (word(4), word(7), word(9), word(10));
    assert!(channels >= 1, "there is a channel to the host");
    assert_eq!(read, 0, "no probe has read");
    board.memory(buffer, written as usize)
}

#[test]
fn what_is_logged_over_a_serial_line_arrives_and_so_do_last_words() {
    let mut board = Board::with("log-uart");
    assert_eq!(board.run(), Ended::Failed, "it despairs");
    let line = board.line();
    assert_eq!(decoded(&board, &line), PAGE);

    board.reset();
    assert_eq!(board.run(), Ended::Failed, "it despairs again");
    let line = board.line();
    let lines = decoded(&board, &line);
    assert_eq!(
        lines[0],
        "ERROR core 1 died in flockwork_check_logs::Scribe, letter despair: no more words, at checks/logs/src/lib.rs:23"
    );
    assert_eq!(lines[1..], PAGE);
}
