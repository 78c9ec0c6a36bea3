//! What an image logs, as text: what it writes to UART0, and what it logs with defmt, over RTT or over UART0.
//!
//! An image with the buffers of RTT logs with defmt there, and writes text to UART0. One that has texts of defmt and no such
//! buffers logs over UART0, and nothing else is written there.

use crate::{Image, Machine};

/// The log of a run, read as it comes.
pub struct Log<'t> {
    frames: Option<frames::Decoder<'t>>,
    /// Whether frames come over UART0.
    over_uart0: bool,
    /// Bytes of UART0 that were read.
    read: usize,
}

impl<'t> Log<'t> {
    /// The log of a run of `image`, whose texts these are.
    pub fn of(image: &Image, texts: Option<&'t Texts>) -> Self {
        Self { frames: texts.map(Texts::decoder), over_uart0: image.symbol(RTT).is_none(), read: 0 }
    }

    /// What was logged since the last call: bytes of UART0, and a line for each frame.
    pub fn news(&mut self, machine: &mut Machine) -> Vec<u8> {
        let rtt = machine.take_rtt();
        let uart0 = machine.uart0();
        let news = &uart0[self.read..];
        self.read = uart0.len();
        match &mut self.frames {
            None => news.to_vec(),
            Some(frames) if self.over_uart0 => frames.lines(news).into_bytes(),
            Some(frames) => [news, frames.lines(&rtt).as_bytes()].concat(),
        }
    }
}

/// The static with the buffers of RTT.
pub(crate) const RTT: &str = "_SEGGER_RTT";
/// The section with what an image logs with defmt: frames hold numbers in place of it.
const TEXTS: &str = ".defmt";

pub use frames::Texts;

/// With the decoder, which brings some seventy crates along.
#[cfg(feature = "defmt")]
mod frames {
    use super::TEXTS;
    use crate::Image;
    use defmt_decoder::{DecodeError, StreamDecoder, Table};

    /// The texts of an image that logs with defmt.
    pub struct Texts(Table);

    impl Texts {
        /// None if the image does not log with defmt.
        pub fn of(image: &Image) -> Result<Option<Self>, String> {
            if !image.has_section(TEXTS) {
                return Ok(None);
            }
            let table = Table::parse(image.elf()).map_err(|error| format!("the texts of defmt: {error}"))?;
            Ok(table.map(Self))
        }

        pub(super) fn decoder(&self) -> Decoder<'_> {
            Decoder(self.0.new_stream_decoder())
        }
    }

    /// Reads frames.
    pub(super) struct Decoder<'t>(Box<dyn StreamDecoder + 't>);

    impl Decoder<'_> {
        /// The frames that are complete with these bytes, a line with level and message for each.
        pub(super) fn lines(&mut self, bytes: &[u8]) -> String {
            self.0.received(bytes);
            let mut lines = String::new();
            loop {
                match self.0.decode() {
                    Ok(frame) => {
                        let level = frame.level().map_or("", |level| level.as_str()).to_uppercase();
                        lines += &format!("{level} {}\n", frame.display_message());
                    }
                    Err(DecodeError::UnexpectedEof) => return lines,
                    Err(DecodeError::Malformed) => lines += "(a frame that is broken)\n",
                }
            }
        }
    }
}

/// Without the decoder.
#[cfg(not(feature = "defmt"))]
mod frames {
    use super::TEXTS;
    use crate::Image;

    /// The texts of an image that logs with defmt: there are none without the feature `defmt`.
    pub enum Texts {}

    impl Texts {
        /// None if the image does not log with defmt; an error if it does.
        pub fn of(image: &Image) -> Result<Option<Self>, String> {
            match image.has_section(TEXTS) {
                true => {
                    Err("the image logs with defmt: build the emulator with `--features defmt` to read it".to_owned())
                }
                false => Ok(None),
            }
        }

        pub(super) fn decoder(&self) -> Decoder<'_> {
            match *self {}
        }
    }

    pub(super) type Decoder<'t> = &'t Nobody;

    pub(super) enum Nobody {}

    impl Nobody {
        pub(super) fn lines(&self, _: &[u8]) -> String {
            match *self {}
        }
    }
}
