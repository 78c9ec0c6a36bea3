//! `#[actor] static`: the declaration of an actor.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, ItemStatic, PathArguments, Result, StaticMutability, Type};

/// The static with its initialiser wrapped: the state goes into a `Body`, the letters into a static of their own.
pub(crate) fn expand(arguments: &TokenStream, item: &ItemStatic) -> TokenStream {
    // A declaration that is refused is left out: with its initialiser as it stands, it would only add a type error.
    declare(arguments, item).unwrap_or_else(Error::into_compile_error)
}

fn declare(arguments: &TokenStream, item: &ItemStatic) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(
            arguments,
            "on a `static`, `#[actor]` takes no arguments: objects are named at the `impl` block",
        ));
    }
    if let StaticMutability::Mut(keyword) = &item.mutability {
        return Err(Error::new_spanned(keyword, "an actor changes through its letters: drop the `mut`"));
    }

    let Declared { state, monitor, capacity, promises, lanes } = Declared::read(&item.ty)?;
    let ItemStatic { attrs, vis, static_token, ident, colon_token, ty, eq_token, expr, semi_token, .. } = item;

    // The checks say in words what is wrong with the declaration, and point at the word to change.
    let fits = quote_spanned! {monitor.span()=>
        const _: () = ::flockwork::assert_fits::<#state, #monitor>();
    };
    let capacity_fits = quote_spanned! {capacity.span()=>
        const _: () = {
            const CAPACITY: usize = #capacity;
            ::core::assert!(CAPACITY.is_power_of_two(), "the capacity of an actor's mailbox must be a power of two");
        };
    };
    // The mailbox is in a block of its own so that the initialiser does not see its name. It is spanned at the state, so
    // that rustc says once, and there, that the state is not an actor.
    let mail = quote_spanned! {state.span()=>
        {
            static MAIL: ::flockwork::Mail<#state, #monitor, #capacity, #promises, #lanes> = ::flockwork::Mail::new();
            &MAIL
        }
    };
    let front = quote_spanned! {state.span()=>
        ::flockwork::Actor::<#state, #monitor, #capacity, #promises, #lanes>
    };
    Ok(quote! {
        #(#attrs)*
        #vis #static_token #ident #colon_token #ty #eq_token #front {
            actor: ::core::marker::PhantomData,
            body: ::flockwork::Body::new(#mail, #expr),
        } #semi_token

        #fits
        #capacity_fits
        ::flockwork::count_actor!();
    })
}

/// The arguments of the written `Actor<…>`, with the defaults for those left out.
struct Declared {
    state: GenericArgument,
    monitor: GenericArgument,
    capacity: GenericArgument,
    promises: TokenStream,
    lanes: TokenStream,
}

impl Declared {
    fn read(ty: &Type) -> Result<Self> {
        let expected = || {
            Error::new_spanned(
                ty,
                "the type of an actor is written here as `Actor<State, Monitor, CAPACITY>` (or with PROMISES and LANES after it)",
            )
        };
        let Type::Path(path) = ty else { return Err(expected()) };
        let last = path.path.segments.last().filter(|segment| segment.ident == "Actor").ok_or_else(expected)?;
        let PathArguments::AngleBracketed(written) = &last.arguments else { return Err(expected()) };

        let mut written = written.args.iter().cloned();
        let mut next = || written.next().ok_or_else(expected);
        let (state, monitor, capacity) = (next()?, next()?, next()?);
        let promises = next().map_or_else(|_| quote!({ ::flockwork::DEFAULT_PROMISES }), ToTokens::into_token_stream);
        let lanes = next().map_or_else(|_| quote!({ ::flockwork::LANES }), ToTokens::into_token_stream);
        if next().is_ok() {
            return Err(expected());
        }
        Ok(Self { state, monitor, capacity, promises, lanes })
    }
}
