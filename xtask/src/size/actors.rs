//! The actors of an image, found by the names of their statics.
//!
//! `#[actor] static NAME` makes two of them: `NAME`, with the state and the monitor, and inside its initialiser `MAIL`, with the
//! mailbox: lanes of letters and of promises. So whatever is called `…::NAME::MAIL` is the mailbox of an actor.

use crate::elf::{Elf, Symbol};

/// What an actor takes of RAM.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    /// The path of its static.
    pub(crate) name: String,
    /// Bytes of its state, its monitor and the reference to its mailbox.
    pub(crate) body: u32,
    /// Bytes of its mailbox.
    pub(crate) mailbox: u32,
}

/// The actors, in alphabetical order.
pub(crate) fn of(elf: &Elf) -> Vec<Actor> {
    let symbols: Vec<(String, Symbol<'_>)> =
        elf.symbols().filter_map(|symbol| Some((path(symbol.name)?, symbol))).collect();
    among(&symbols)
}

fn among(symbols: &[(String, Symbol<'_>)]) -> Vec<Actor> {
    let mail = symbols.iter().filter_map(|(path, symbol)| Some((path.strip_suffix("::MAIL")?, symbol.size)));
    let actor = |(name, mailbox): (&str, u32)| {
        let (_, body) = symbols.iter().find(|(path, _)| path == name)?;
        Some(Actor { name: name.to_owned(), body: body.size, mailbox })
    };
    let mut actors: Vec<Actor> = mail.filter_map(actor).collect();
    actors.sort_by(|one, other| one.name.cmp(&other.name));
    actors
}

/// The path in a mangled name: `_ZN5hello4HERE4MAIL17h0123456789abcdefE` is `hello::HERE::MAIL`. None for all else.
fn path(mangled: &str) -> Option<String> {
    let mut rest = mangled.strip_prefix("_ZN")?;
    let mut parts = Vec::new();
    while rest != "E" {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let length: usize = rest[..digits].parse().ok()?;
        parts.push(rest.get(digits..digits + length)?);
        rest = &rest[digits + length..];
    }
    // The last part is a hash.
    parts.pop().filter(|hash| hash.len() == 17 && hash.starts_with('h'))?;
    Some(parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mangled_name_has_a_path_in_it() {
        let name = "_ZN14size_mailboxes12MORE_LETTERS4MAIL17hb166d16c964fb760E";
        assert_eq!(path(name).as_deref(), Some("size_mailboxes::MORE_LETTERS::MAIL"));
        for other in ["FLOCKWORK_OUTCOME", "_ZN5hello", "_ZN99helloE", "_ZN5helloE", "_ZN"] {
            assert_eq!(path(other), None, "{other}");
        }
    }

    #[test]
    fn an_actor_is_a_static_with_a_mailbox_inside() {
        let symbol = |path: &str, size| (path.to_owned(), Symbol { name: "", address: 0, size });
        let symbols = [
            symbol("hello::THERE::MAIL", 400),
            symbol("hello::THERE", 12),
            symbol("hello::CORE1_STACK", 4096),
            symbol("hello::HERE", 8),
            symbol("hello::HERE::MAIL", 200),
            symbol("elsewhere::MAIL", 1),
        ];
        let actor = |name: &str, body, mailbox| Actor { name: name.to_owned(), body, mailbox };
        assert_eq!(among(&symbols), [actor("hello::HERE", 8, 200), actor("hello::THERE", 12, 400)]);
    }
}
