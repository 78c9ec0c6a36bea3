//! The step for the RP2350, which no emulator runs: its images are built, and the boot ROM would find them.

use crate::{
    board::{Profile, RP2350},
    elf::Elf,
    step::Stop,
};

/// The section with the image definition; `boards/rp2350/memory.x` puts it behind the vectors.
const IMAGE_DEFINITION: &str = ".start_block";
/// Where the boot ROM looks for it: the first 4 KB of flash.
const SEARCHED: std::ops::Range<u32> = 0x1000_0000..0x1000_1000;

pub(crate) fn check() -> Result<(), Stop> {
    for example in RP2350.examples() {
        let elf = Elf::read(&RP2350.build(&example, Profile::Release)?)?;
        can_be_booted(&elf).map_err(|why| Stop::Failed(format!("{example} would not boot: {why}")))?;
    }
    Ok(())
}

fn can_be_booted(elf: &Elf) -> Result<(), String> {
    let section = elf.sections().find(|section| section.name == IMAGE_DEFINITION);
    let Some(section) = section else { return Err(format!("it has no section {IMAGE_DEFINITION}")) };
    let end = section.address + section.size;
    if !SEARCHED.contains(&section.address) || end > SEARCHED.end {
        return Err(format!("its image definition is at {:#010x}, not in the first 4 KB of flash", section.address));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::elf;

    #[test]
    fn an_image_without_its_definition_is_found_out() {
        let why = can_be_booted(&elf(&[(0x1000_0000, b"vectors")])).unwrap_err();
        assert!(why.contains(".start_block"), "{why}");
    }
}
