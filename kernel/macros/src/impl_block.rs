//! `#[actor] impl`: an actor's messages and its front, from its methods.
//!
//! For `impl Dictionary` with a method `get` this writes, beside the block itself:
//!
//! ```text
//! enum DictionaryMessage { Get(Word, Reply<Option<Meaning>>), .. }        what travels
//! union DictionaryReplies { get: .., .. }                                 how much room an answer needs
//! struct DictionaryFront<B> { body: B }, with fn get(word) -> Call<..>    what senders call
//! impl Methods for Dictionary                                             how a message becomes a call
//! ```

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Error, GenericParam, Generics, Ident, ImplItem, ItemImpl, Result, Token, Type, parse_quote};

use crate::signature::{self, Access, Answer, Block, Method, Objects, Parameter};

/// A method is a byte; two of its values stand for none.
const MAX_METHODS: usize = 254;

/// The block as it is, followed by what makes its type an actor.
pub(crate) fn expand(arguments: TokenStream, mut block: ItemImpl) -> TokenStream {
    match Actor::read(arguments, &mut block) {
        Ok(actor) => {
            let (message, replies, front, methods, checks) =
                (actor.message(), actor.replies(), actor.front(), actor.methods_impl(), actor.checks());
            quote! { #block #message #replies #front #methods #checks }
        }
        Err(error) => crate::refuse(&block, error),
    }
}

/// What was read from the block, and the names of what is written.
struct Actor {
    block: Block,
    name: Ident,
    message: Ident,
    replies: Ident,
    front: Ident,
    /// The front's own type parameter: `B`, unless the actor has one of that name.
    body: Ident,
    generics: Generics,
    methods: Vec<Method>,
}

impl Actor {
    fn read(arguments: TokenStream, block: &mut ItemImpl) -> Result<Self> {
        let objects = read_objects(arguments);
        if let Some((_, of, _)) = &block.trait_ {
            return Err(Error::new_spanned(
                of,
                "`#[actor]` makes the methods of a type messages: put it on `impl Type`, not on the `impl` of a trait",
            ));
        }
        if let Some(conditional) = block.attrs.iter().find(|attribute| signature::is_conditional(attribute)) {
            return Err(Error::new_spanned(
                conditional,
                "put this above `#[actor]`, so that it holds for all of the actor",
            ));
        }
        if let Some(lifetime) = block.generics.lifetimes().next() {
            return Err(Error::new_spanned(
                lifetime,
                "an actor lives as long as the program: it cannot borrow for less",
            ));
        }
        let Some(segment) = signature::last_segment(&block.self_ty) else {
            return Err(Error::new_spanned(&block.self_ty, "only a type with a name can be an actor"));
        };
        let name = segment.ident.clone();
        let context = Block { actor: (*block.self_ty).clone(), objects: objects? };

        let mut methods = Vec::new();
        let mut errors: Option<Error> = None;
        for item in &mut block.items {
            let ImplItem::Fn(function) = item else { continue };
            match Method::read(function, &context) {
                Ok(method) => methods.extend(method),
                Err(error) => match &mut errors {
                    Some(errors) => errors.combine(error),
                    None => errors = Some(error),
                },
            }
        }
        if let Some(errors) = errors {
            return Err(errors);
        }
        if methods.is_empty() {
            return Err(Error::new_spanned(
                &block.self_ty,
                "an actor is what its messages do: it needs a `pub` method with `&self` or `&mut self`",
            ));
        }
        if methods.len() > MAX_METHODS {
            return Err(Error::new(methods[MAX_METHODS].name.span(), "an actor has at most 254 methods"));
        }

        let named =
            |suffix| Ident::new(&format!("{}{suffix}", name.unraw()), Span::call_site().located_at(name.span()));
        let taken = block.generics.params.iter().any(|parameter| match parameter {
            GenericParam::Type(parameter) => parameter.ident == "B",
            GenericParam::Const(parameter) => parameter.ident == "B",
            GenericParam::Lifetime(_) => false,
        });
        Ok(Self {
            message: named("Message"),
            replies: named("Replies"),
            front: named("Front"),
            body: format_ident!("{}", if taken { "ActorBody" } else { "B" }),
            block: context,
            generics: block.generics.clone(),
            methods,
            name,
        })
    }

    /// What travels: a variant per method, with its arguments and the reply.
    fn message(&self) -> TokenStream {
        let Self { name, message, generics, .. } = self;
        let where_clause = &generics.where_clause;
        let variants = self.methods.iter().map(|method| {
            let docs = docs_of(method, &format!("A call of `{}`.", method.name.unraw()));
            let variant = &method.variant;
            let fields = self.fields(method).map(|(_, ty)| ty);
            let reply = method.reply();
            quote! { #docs #variant(#(#fields,)* #reply) }
        });
        let never = self.never().then(|| {
            let actor = &self.block.actor;
            quote! {
                #[doc(hidden)]
                _Never(::core::convert::Infallible, ::core::marker::PhantomData<fn() -> #actor>)
            }
        });
        let docs = format!("The calls of [`{name}`]'s methods, as they travel in letters.");
        quote! {
            #[doc = #docs]
            #[allow(unreachable_pub, private_interfaces, private_bounds)]
            pub enum #message #generics #where_clause { #(#variants,)* #never }
        }
    }

    /// As large and as aligned as any answer; never made.
    fn replies(&self) -> TokenStream {
        let Self { name, replies, generics, .. } = self;
        let where_clause = &generics.where_clause;
        let actor = &self.block.actor;
        let fields = self.methods.iter().map(|method| {
            let (field, answer) = (&method.name, method.answer.types());
            quote! { #field: ::core::mem::ManuallyDrop<::flockwork::Outcome<#(#answer),*>> }
        });
        let docs = format!("Room for any answer of [`{name}`].");
        quote! {
            #[doc = #docs]
            #[doc(hidden)]
            #[allow(dead_code, unreachable_pub, private_interfaces, private_bounds)]
            pub union #replies #generics #where_clause {
                // Uses the type parameters that no answer does.
                _actor: ::core::marker::PhantomData<fn() -> #actor>,
                #(#fields,)*
            }
        }
    }

    /// What senders call: a method per method, which makes a call but does not send it.
    fn front(&self) -> TokenStream {
        let Self { name, message, front, body, generics, .. } = self;
        let actor = &self.block.actor;
        let (_, message_generics, where_clause) = generics.split_for_impl();
        let reply = hygienic("reply");

        let methods = self.methods.iter().map(|method| {
            let Method { name: function, variant, deprecated, .. } = method;
            let docs = docs_of(method, &format!("A call of [`{name}::{}`].", function.unraw()));
            let (names, types): (Vec<_>, Vec<_>) = self.fields(method).unzip();
            let (answer, reply_type) = (method.answer.types(), method.reply());
            quote! {
                #docs
                #deprecated
                #[inline(always)]
                pub fn #function(&'static self, #(#names: #types),*) -> ::flockwork::Call<
                    #actor,
                    #body,
                    impl FnOnce(#reply_type) -> #message #message_generics,
                    #(#answer),*
                > {
                    ::flockwork::Call::new(&self.body, move |#reply| #message::#variant(#(#names,)* #reply))
                }
            }
        });

        let declared = self.with_body(quote! { ?Sized });
        let implemented = self.with_body(quote! { ?Sized + ::flockwork::Post<#actor> });
        let (_, front_generics, _) = declared.split_for_impl();
        let docs = format!(
            "What senders of [`{name}`] call: its methods, each of which makes a call that is still to be sent."
        );
        quote! {
            #[doc = #docs]
            #[allow(unreachable_pub, private_interfaces, private_bounds)]
            pub struct #front #declared #where_clause {
                #[doc(hidden)]
                pub actor: ::core::marker::PhantomData<fn() -> #actor>,
                #[doc(hidden)]
                pub body: #body,
            }

            #[allow(unreachable_pub, private_interfaces, private_bounds, clippy::too_many_arguments, clippy::type_complexity)]
            impl #implemented #front #front_generics #where_clause {
                #(#methods)*
            }

            impl #implemented ::flockwork::Reports for #front #front_generics #where_clause {
                fn report(&'static self) -> ::flockwork::Report {
                    ::flockwork::Post::report(&self.body)
                }
            }
        }
    }

    /// How a message becomes a call of its method.
    fn methods_impl(&self) -> TokenStream {
        let Self { message, replies, front, body, generics, .. } = self;
        let actor = &self.block.actor;
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let declared = self.with_body(quote! { ?Sized });
        let (_, front_generics, _) = declared.split_for_impl();
        let (letter, reply, grant) = (hygienic("message"), hygienic("reply"), hygienic("grant"));

        let objects = match &self.block.objects {
            Some(objects) => objects.all.to_token_stream(),
            None => quote! { () },
        };
        let entries = self.methods.iter().map(Method::entry);
        let variants = || self.methods.iter().map(|method| &method.variant);
        let places = 0u8..;
        let runs = self.methods.iter().map(|method| {
            let variant = &method.variant;
            let names = self.fields(method).map(|(name, _)| name);
            let run = method.run();
            quote! { #message::#variant(#(#names,)* #reply) => #run }
        });
        let variants_with_place = variants();
        let variants_with_reply = variants();
        let claims = self.block.objects.as_ref().map(|objects| self.claims(objects));
        let (never_behind, never) = match self.never() {
            true => (
                Some(quote! { #message::_Never(never, _) => match *never {} }),
                Some(quote! { #message::_Never(never, _) => match never {} }),
            ),
            false => (None, None),
        };

        quote! {
            #[allow(deprecated)]
            impl #impl_generics ::flockwork::Methods for #actor #where_clause {
                type Message = #message #type_generics;
                type Replies = #replies #type_generics;
                type Objects = #objects;
                type Front<#body: ?Sized + 'static> = #front #front_generics;

                const METHODS: &'static [::flockwork::Method] = &[#(#entries),*];

                #[inline(always)]
                fn method(#letter: &Self::Message) -> u8 {
                    match #letter {
                        #(#message::#variants_with_place(..) => #places,)*
                        #never_behind
                    }
                }

                #claims

                fn detach(#letter: &mut Self::Message) -> ::flockwork::Detached {
                    match #letter {
                        #(#message::#variants_with_reply(.., #reply) => #reply.detach(),)*
                        #never_behind
                    }
                }

                #[inline(always)]
                fn run(#grant: ::flockwork::Grant<'_, Self>, #letter: Self::Message) {
                    match #letter {
                        #(#runs,)*
                        #never
                    }
                }
            }
        }
    }

    /// Which objects a message names.
    fn claims(&self, objects: &Objects) -> TokenStream {
        let message = &self.message;
        let letter = hygienic("message");
        let all = &objects.all;
        let arms = self.methods.iter().map(|method| {
            let variant = &method.variant;
            let mut claims = Vec::new();
            for parameter in &method.parameters {
                if let Parameter::Object { name, exclusive } = parameter {
                    let claim = format_ident!("{}", if *exclusive { "exclusive" } else { "shared" });
                    claims.push(quote! { .#claim::<#all>(*#name) });
                }
            }
            if claims.is_empty() {
                return quote! { #message::#variant(..) => Ok(::flockwork::Claims::NONE) };
            }
            let fields = method.parameters.iter().filter_map(|parameter| match parameter {
                Parameter::Object { name, .. } => Some(name.to_token_stream()),
                Parameter::Value { .. } => Some(quote! { _ }),
                Parameter::All | Parameter::Token => None,
            });
            quote! { #message::#variant(#(#fields,)* _) => ::flockwork::Claims::NONE #(#claims)?* }
        });
        let never = self.never().then(|| quote! { #message::_Never(never, _) => match *never {} });
        quote! {
            #[inline(always)]
            fn claims(#letter: &Self::Message) -> ::core::result::Result<::flockwork::Claims, ::flockwork::Unrunnable> {
                match #letter {
                    #(#arms,)*
                    #never
                }
            }
        }
    }

    /// Asks of each argument and reply what the kernel asks of the whole message, so that the error points at the type.
    fn checks(&self) -> TokenStream {
        let (generics, where_clause) = (&self.generics, &self.generics.where_clause);
        let checks = self.methods.iter().flat_map(|method| {
            let arguments = method.parameters.iter().filter_map(|parameter| match parameter {
                Parameter::Value { ty, .. } => Some(quote_spanned! {ty.span()=> argument::<#ty>(); }),
                _ => None,
            });
            let replies = method.answer.types().into_iter().map(|ty| quote_spanned! {ty.span()=> reply::<#ty>(); });
            arguments.chain(replies).collect::<Vec<_>>()
        });
        quote! {
            const _: () = {
                fn argument<T: ::flockwork::Travels>() {}
                fn reply<T: ::flockwork::Owned>() {}
                #[allow(dead_code)]
                fn check #generics () #where_clause { #(#checks)* }
            };
        }
    }

    /// The names and types of what a message of this method holds, besides the reply.
    fn fields<'a>(&'a self, method: &'a Method) -> impl Iterator<Item = (&'a Ident, TokenStream)> {
        method.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Value { name, ty } => Some((name, ty.to_token_stream())),
            Parameter::Object { name, .. } => {
                let one = self.block.objects.as_ref().map(|objects| &objects.one);
                Some((name, quote! { ::flockwork::Id<#one> }))
            }
            Parameter::All | Parameter::Token => None,
        })
    }

    /// The actor's generics, and the front's own parameter with these bounds.
    fn with_body(&self, bounds: TokenStream) -> Generics {
        let body = &self.body;
        let mut generics = self.generics.clone();
        generics.params.push(parse_quote! { #body: #bounds });
        generics
    }

    /// Whether the message needs a variant that cannot be, to mention a type parameter that no argument and no reply does.
    fn never(&self) -> bool {
        let held = self.methods.iter().flat_map(|method| {
            self.fields(method)
                .map(|(_, ty)| ty)
                .chain(method.answer.types().into_iter().map(ToTokens::to_token_stream))
        });
        let held: TokenStream = held.collect();
        self.generics.type_params().any(|parameter| !mentions(held.clone(), &parameter.ident))
    }
}

impl Method {
    /// `Reply<T>` or `Reply<T, E>`.
    fn reply(&self) -> TokenStream {
        let answer = self.answer.types();
        quote! { ::flockwork::Reply<#(#answer),*> }
    }

    /// Its entry in `METHODS`.
    fn entry(&self) -> TokenStream {
        let name = self.name.unraw().to_string();
        let access = match self.access {
            Access::Reader => quote! { Reader },
            Access::Writer => quote! { Writer },
            Access::Objects => quote! { Objects },
        };
        let tagged = self.category.as_ref().map(|category| quote! { .tagged(&#category) });
        quote! { ::flockwork::Method::new(#name, ::flockwork::Access::#access) #tagged }
    }

    /// The call of the method, where `grant`, `reply` and the message's fields are at hand.
    ///
    /// The reply is a live value while the method runs, so a panic in the method drops it, which fails the promise.
    fn run(&self) -> TokenStream {
        let function = &self.name;
        let (grant, reply, me) = (hygienic("grant"), hygienic("reply"), hygienic("me"));
        let (objects, all, token) = (hygienic("objects"), hygienic("all"), hygienic("token"));

        let borrow = match self.access {
            Access::Reader => quote! { let #me = #grant.reader(); },
            Access::Objects => quote! { let (#me, mut #objects) = #grant.objects(); },
            Access::Writer if self.takes_all_objects() => quote! { let (#me, #all) = #grant.all(); },
            Access::Writer => quote! { let #me = #grant.writer(); },
        };
        let arguments = self.parameters.iter().map(|parameter| match parameter {
            Parameter::Value { name, .. } => name.to_token_stream(),
            Parameter::Object { name, exclusive: true } => quote! { #objects.exclusive(#name) },
            Parameter::Object { name, exclusive: false } => quote! { #objects.shared(#name) },
            Parameter::All => all.to_token_stream(),
            Parameter::Token => token.to_token_stream(),
        });
        let call = quote! { Self::#function(#me, #(#arguments),*) };
        let answer = match &self.answer {
            Answer::Value(_) => quote! { #reply.answer(#call) },
            Answer::Fallible(..) => quote! { #reply.result(#call) },
            Answer::Token(..) => quote! { #reply.through(|#token| #call) },
        };
        quote! { { #borrow #answer } }
    }
}

/// Reads `objects = Several<Account, 4>`, or nothing.
fn read_objects(arguments: TokenStream) -> Result<Option<Objects>> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let all = |input: ParseStream<'_>| {
        let expected = "`#[actor]` takes no arguments, or `objects = Several<Object, COUNT>`";
        let name: Ident = input.parse().map_err(|error| Error::new(error.span(), expected))?;
        if name != "objects" {
            return Err(Error::new_spanned(name, expected));
        }
        input.parse::<Token![=]>()?;
        let all: Type = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(all)
    };
    let all = all.parse2(arguments)?;
    // The object's type is what tells an object from other parameters, so it must be spelled out.
    let one = signature::last_segment(&all)
        .filter(|segment| segment.ident == "Several")
        .and_then(|segment| signature::type_arguments(segment).into_iter().next());
    match one {
        Some(one) => Ok(Some(Objects { all, one })),
        None => Err(Error::new_spanned(all, "objects are written here as `Several<Object, COUNT>`")),
    }
}

/// The method's documentation, or a line instead.
fn docs_of(method: &Method, instead: &str) -> TokenStream {
    let docs = &method.docs;
    if docs.is_empty() {
        quote! { #[doc = #instead] }
    } else {
        quote! { #(#docs)* }
    }
}

/// A local name that no argument of the user's can meet.
fn hygienic(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
