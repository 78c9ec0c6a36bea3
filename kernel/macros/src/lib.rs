//! The attribute [`macro@actor`], which `flockwork` exports as `flockwork::actor`.
//!
//! On an `impl` block it is read by `impl_block`, method by method with the help of `signature`; on a `static`, by
//! `static_item`. What it writes is ordinary safe code that can be written by hand just as well.

mod impl_block;
mod signature;
mod static_item;

use proc_macro::TokenStream;
use quote::ToTokens;
use syn::{ForeignItemStatic, Item, parse_macro_input};

/// Makes a type an actor (on its `impl` block), or declares an actor (on a `static`).
///
/// # On an `impl` block: the methods become messages
///
/// ```
/// use flockwork::{Category, actor};
/// # type Word = u8;
/// # type Meaning = u32;
/// # pub struct Unknown;
///
/// static EDIT: Category = Category::new("edit");
///
/// pub struct Dictionary {
///     meanings: [Option<Meaning>; 64],
/// }
///
/// #[actor]
/// impl Dictionary {
///     /// What a word means.
///     pub fn get(&self, word: Word) -> Option<Meaning> {
///         *self.meanings.get(usize::from(word))?
///     }
///
///     /// Says what a word means.
///     #[category(EDIT)]
///     pub fn put(&mut self, word: Word, meaning: Meaning) -> Result<(), Unknown> {
///         let place = self.meanings.get_mut(usize::from(word)).ok_or(Unknown)?;
///         *place = Some(meaning);
///         Ok(())
///     }
/// }
/// ```
///
/// Every `pub` method that takes `&self` or `&mut self` becomes a message; other functions of the block stay what they
/// are. The receiver decides what may run at once: `&self` methods are readers, `&mut self` methods are writers.
///
/// Written beside the block, which itself stays as it is:
///
/// | item | what it is |
/// |---|---|
/// | `DictionaryFront` | what senders call: each method returns a `Call`, to be told, asked, awaited or forwarded |
/// | `DictionaryMessage` | an enum with a variant per method, for monitors that look into letters |
/// | `impl Methods for Dictionary` | how a message becomes a call of the method |
///
/// Arguments are owned, `Send` and `'static`, and so are replies. A method that returns `Result<T, E>` fails its promise
/// with `E`. `#[category(NAME)]` tags a method with a `static NAME: Category`.
///
/// ## A method that answers later, or lets another actor answer
///
/// It takes a `Token` and must return it as `Answered`, so that each letter is answered exactly once:
///
/// ```
/// use flockwork::{Answered, Ref, Token, actor};
///
/// pub struct Relay {
///     seen: u32,
///     next: Ref<Relay>,
/// }
///
/// #[actor]
/// impl Relay {
///     /// The last of `n` relays answers.
///     pub fn hop<'t>(&mut self, n: u32, token: Token<'t, u32>) -> Answered<'t> {
///         self.seen += 1;
///         if n == 0 {
///             return token.done(self.seen);
///         }
///         self.next.hop(n - 1).forward(token).unwrap_or_else(|(token, why)| token.fail(why))
///     }
/// }
/// ```
///
/// ## Several objects in one actor
///
/// ```
/// use flockwork::{Several, actor};
///
/// pub struct Account {
///     balance: u64,
/// }
///
/// pub struct Bank {
///     fee: u64,
/// }
///
/// #[actor(objects = Several<Account, 4>)]
/// impl Bank {
///     /// Moves an amount, or says what is there.
///     pub fn transfer(&self, from: &mut Account, to: &mut Account, amount: u64) -> Result<(), u64> {
///         from.balance = from.balance.checked_sub(amount + self.fee).ok_or(from.balance)?;
///         to.balance += amount;
///         Ok(())
///     }
///
///     /// What is in an account.
///     pub fn balance(&self, account: &Account) -> u64 {
///         account.balance
///     }
///
///     /// What is in all accounts together.
///     pub fn total(&mut self, all: &mut Several<Account, 4>) -> u64 {
///         all.iter_mut().map(|account| account.balance).sum()
///     }
/// }
/// ```
///
/// A parameter that borrows an object is passed as `Id<Account>` by the sender, and letters that name different objects
/// may run at once. A `&mut self` method runs alone and may take all objects.
///
/// # On a `static`: an actor is declared
///
/// ```
/// use flockwork::{Actor, Mutex, ReadersWriter, Several, actor};
/// # pub struct Dictionary { words: u32 }
/// # impl Dictionary { const fn new() -> Self { Self { words: 0 } } }
/// # #[actor] impl Dictionary { pub fn words(&self) -> u32 { self.words } }
/// # pub struct Account { balance: u64 }
/// # pub struct Bank { fee: u64 }
/// # #[actor(objects = Several<Account, 4>)]
/// # impl Bank { pub fn balance(&self, account: &Account) -> u64 { account.balance.saturating_sub(self.fee) } }
///
/// #[actor]
/// static DICTIONARY: Actor<Dictionary, ReadersWriter, 32> = Dictionary::new();
///
/// #[actor]
/// static BANK: Actor<Bank, Mutex, 16> = (Bank { fee: 1 }, Several::new([const { Account { balance: 100 } }; 4]));
/// ```
///
/// The type arguments are the state, its monitor and how many letters each core can have waiting in it; then, if wanted,
/// how many unanswered asks and how many lanes. The mailbox is put in a static of its own: it starts as zeros, so it
/// takes no room in flash, whatever the state's initial value is. With objects, the initial value is `(state, objects)`.
#[proc_macro_attribute]
pub fn actor(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = proc_macro2::TokenStream::from(arguments);
    match parse_macro_input!(item as Item) {
        Item::Impl(block) => impl_block::expand(arguments, block),
        Item::Static(item) => static_item::expand(&arguments, &item),
        Item::Verbatim(item) if syn::parse2::<ForeignItemStatic>(item.clone()).is_ok() => {
            syn::Error::new_spanned(item, "an actor needs its initial state: `= …;`").into_compile_error()
        }
        other => refuse(
            &other,
            syn::Error::new_spanned(
                &other,
                "`#[actor]` belongs on an `impl` block (to make its methods messages) or on a `static` (to declare an actor)",
            ),
        ),
    }
    .into()
}

/// The item as it was, and why it cannot be an actor: what else the item defines is then not missed as well.
fn refuse(item: &impl ToTokens, error: syn::Error) -> proc_macro2::TokenStream {
    let mut tokens = item.to_token_stream();
    tokens.extend(error.into_compile_error());
    tokens
}
