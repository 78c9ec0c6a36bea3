//! `cargo xtask uf2`: an image for drag and drop, for those without a debug probe.
//!
//! UF2 is a sequence of 512-byte blocks, each with a page of flash and where it belongs. A chip in its boot loader shows up as
//! a drive; what is copied there is written to flash block by block. <https://github.com/microsoft/uf2> has the format.

use crate::{
    args::{Args, Misuse},
    board::{Board, Profile},
    elf::Elf,
    memory,
    step::{Stop, exit_code},
};
use std::{collections::BTreeMap, fs, ops::Range, path::Path, process::ExitCode};

pub(crate) fn run(args: Args) -> Result<ExitCode, Misuse> {
    let (board, example) = Board::and_example(args)?;
    let chip = board.chip()?;
    let write = || {
        let image = board.build(&example, Profile::Release)?;
        let blocks = blocks(&pages(&Elf::read(&image)?, &memory::flash(board)?)?, chip.family);
        let file = image.with_extension("uf2");
        write(&file, &blocks)?;
        println!("  {} blocks of {PAGE} bytes: {}", blocks.len(), file.display());
        println!("  hold BOOTSEL while you connect the board, and copy the file to the drive that appears");
        Ok(())
    };
    Ok(exit_code("uf2", write()))
}

fn write(file: &Path, blocks: &[[u8; BLOCK]]) -> Result<(), Stop> {
    fs::write(file, blocks.concat())
        .map_err(|error| Stop::Failed(format!("{} cannot be written: {error}", file.display())))
}

/// Bytes of a block in the file.
const BLOCK: usize = 512;
/// Bytes of flash in a block: the page that these chips write at once.
const PAGE: usize = 256;
/// The pages of flash that the image has content for, by address. What a page has besides is zero.
fn pages(elf: &Elf, flash: &Range<u32>) -> Result<BTreeMap<u32, [u8; PAGE]>, Stop> {
    let mut pages = BTreeMap::new();
    for loaded in elf.loaded() {
        for (address, &byte) in (loaded.address..).zip(loaded.bytes) {
            if !flash.contains(&address) {
                return Err(Stop::Failed(format!("the image has content at {address:#010x}, which is not in flash")));
            }
            let offset = address % PAGE as u32;
            pages.entry(address - offset).or_insert([0; PAGE])[offset as usize] = byte;
        }
    }
    Ok(pages)
}

fn blocks(pages: &BTreeMap<u32, [u8; PAGE]>, family: u32) -> Vec<[u8; BLOCK]> {
    const MAGIC: [u32; 2] = [0x0A32_4655, 0x9E5D_5157];
    const MAGIC_AT_THE_END: u32 = 0x0AB1_6F30;
    const HAS_FAMILY: u32 = 0x2000;
    let count = pages.len() as u32;
    let block = |(number, (&address, page)): (u32, (&u32, &[u8; PAGE]))| {
        let header = [MAGIC[0], MAGIC[1], HAS_FAMILY, address, PAGE as u32, number, count, family];
        let mut block = [0; BLOCK];
        block[..32].copy_from_slice(&header.map(u32::to_le_bytes).concat());
        block[32..32 + PAGE].copy_from_slice(page);
        block[BLOCK - 4..].copy_from_slice(&MAGIC_AT_THE_END.to_le_bytes());
        block
    };
    (0..).zip(pages).map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::elf;

    /// A small chip's.
    const FLASH: Range<u32> = 0x1000_0000..0x1000_1000;

    /// The eight words in front of a block's content.
    fn header(block: &[u8; BLOCK]) -> [u32; 8] {
        std::array::from_fn(|word| u32::from_le_bytes(block[word * 4..][..4].try_into().unwrap()))
    }

    #[test]
    fn blocks_have_their_magic_numbers_addresses_and_counts() {
        let image = elf(&[(0x1000_0000, &[1; 256]), (0x1000_0100, &[2; 300])]);
        let blocks = blocks(&pages(&image, &FLASH).unwrap(), 0xE48B_FF56);
        let headers: Vec<_> = blocks.iter().map(header).collect();
        let expected = |address, number| [0x0A32_4655, 0x9E5D_5157, 0x2000, address, 256, number, 3, 0xE48B_FF56];
        assert_eq!(headers, [expected(0x1000_0000, 0), expected(0x1000_0100, 1), expected(0x1000_0200, 2)]);
        assert!(blocks.iter().all(|block| block[508..] == 0x0AB1_6F30_u32.to_le_bytes()));
        assert!(blocks[0][32..288].iter().all(|&byte| byte == 1));
        assert_eq!(blocks[2][32..].iter().filter(|&&byte| byte == 2).count(), 300 - 256);
    }

    #[test]
    fn pieces_that_share_a_page_share_a_block() {
        let image = elf(&[(0x1000_00f0, &[1; 8]), (0x1000_00f8, &[2; 16])]);
        let pages = pages(&image, &FLASH).unwrap();
        assert_eq!(pages.keys().copied().collect::<Vec<_>>(), [0x1000_0000, 0x1000_0100]);
        assert_eq!(pages[&0x1000_0000][0xee..], [&[0; 2][..], &[1; 8], &[2; 8]].concat());
        assert_eq!(pages[&0x1000_0100][..9], [2, 2, 2, 2, 2, 2, 2, 2, 0]);
    }

    #[test]
    fn content_that_is_not_in_flash_is_refused_with_its_address() {
        for (address, content) in [(0x2000_0000, [1; 2]), (FLASH.end - 1, [1; 2])] {
            let Err(Stop::Failed(why)) = pages(&elf(&[(address, &content)]), &FLASH) else {
                panic!("it is not in flash")
            };
            assert!(why.contains("0x20000000") || why.contains("0x10001000"), "{why}");
        }
    }
}
