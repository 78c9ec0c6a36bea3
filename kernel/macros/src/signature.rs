//! The signature of one method, read as the message it becomes.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Error, FnArg, GenericArgument, GenericParam, Ident, ImplItemFn, Lifetime, Pat, PatType, Path,
    PathArguments, PathSegment, QSelf, Receiver, Result, ReturnType, Type, parse_quote,
};

/// What the whole `impl` block says to each of its methods.
pub(crate) struct Block {
    /// The actor's type, as written after `impl`.
    pub(crate) actor: Type,
    /// What `#[actor(objects = …)]` names.
    pub(crate) objects: Option<Objects>,
}

/// `Several<Account, 4>`, and the `Account` in it.
pub(crate) struct Objects {
    pub(crate) all: Type,
    pub(crate) one: Type,
}

/// A method that becomes a message.
pub(crate) struct Method {
    pub(crate) name: Ident,
    /// Its variant of the message, `PutAll` for `put_all`.
    pub(crate) variant: Ident,
    /// Its documentation.
    pub(crate) docs: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
    pub(crate) category: Option<Path>,
    pub(crate) access: Access,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) answer: Answer,
}

/// As the kernel's `Access`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Access {
    Reader,
    Writer,
    Objects,
}

/// What a parameter is to the letter.
pub(crate) enum Parameter {
    /// A value that travels in it.
    Value { name: Ident, ty: Box<Type> },
    /// An object that it names: `&Account`, or `&mut Account` if exclusive.
    Object { name: Ident, exclusive: bool },
    /// All objects: not in the letter, a writer has them anyway.
    All,
    /// The token: made from the letter's reply.
    Token,
}

/// How the method answers. The error type, where there is one, is part of the reply's type.
pub(crate) enum Answer {
    /// By returning it.
    Value(Type),
    /// By returning a `Result<T, E>`.
    Fallible(Type, Type),
    /// With a `Token<'t, T, E>`.
    Token(Type, Option<Type>),
}

impl Method {
    /// The message this function becomes; `None` if it is not `pub` or has no receiver. Takes the attributes that are
    /// meant for us off the function.
    pub(crate) fn read(function: &mut ImplItemFn, block: &Block) -> Result<Option<Self>> {
        let category = take_category(&mut function.attrs)?;
        let public = matches!(function.vis, syn::Visibility::Public(_));
        let Some(receiver) = function.sig.receiver().filter(|_| public).cloned() else {
            return match category {
                None => Ok(None),
                Some(category) => Err(Error::new_spanned(
                    category,
                    "only `pub` methods become messages, so only they can have a category",
                )),
            };
        };

        refuse_what_a_message_cannot_do(function)?;
        let mutable = receiver_is_mutable(&receiver)?;
        let mut parameters = Vec::new();
        let mut token = None;
        for input in function.sig.inputs.iter().skip(1) {
            let FnArg::Typed(parameter) = input else { continue };
            if let Some(found) = Token::read(&parameter.ty) {
                if token.replace(found).is_some() {
                    return Err(Error::new_spanned(parameter, "a letter has one reply, so a method takes one token"));
                }
                parameters.push(Parameter::Token);
            } else {
                parameters.push(Parameter::read(parameter, mutable, block)?);
            }
        }

        let names_objects = parameters.iter().any(|parameter| matches!(parameter, Parameter::Object { .. }));
        let access = match mutable {
            true => Access::Writer,
            false if names_objects => Access::Objects,
            false => Access::Reader,
        };
        let name = function.sig.ident.clone();
        let answer = Answer::read(&function.sig.output, token, block)?;
        let docs = attributes_named(function, "doc").collect();
        let deprecated = attributes_named(function, "deprecated").next();
        // `pub` says that it is a message here, also in an actor that is itself private.
        function.attrs.push(parse_quote! { #[allow(unreachable_pub)] });
        Ok(Some(Self { variant: variant_name(&name), docs, deprecated, category, access, parameters, answer, name }))
    }

    pub(crate) fn takes_all_objects(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::All))
    }
}

/// Takes `#[category(NAME)]` off the function.
fn take_category(attributes: &mut Vec<Attribute>) -> Result<Option<Path>> {
    let mut category = None;
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("category")) {
        if category.replace(attribute.parse_args::<Path>()?).is_some() {
            return Err(Error::new_spanned(attribute, "a method has one category"));
        }
    }
    Ok(category)
}

fn attributes_named(function: &ImplItemFn, name: &str) -> impl Iterator<Item = Attribute> {
    function.attrs.iter().filter(move |attribute| attribute.path().is_ident(name)).cloned()
}

fn refuse_what_a_message_cannot_do(function: &ImplItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(Error::new_spanned(
            keyword,
            "an actor's method is a turn and cannot await; ask other actors from async code, or take a `Token` and answer later",
        ));
    }
    if let Some(keyword) = &signature.unsafety {
        return Err(Error::new_spanned(
            keyword,
            "whoever sends a letter promises nothing: a method that becomes a message must be safe to call",
        ));
    }
    if let Some(parameter) =
        signature.generics.params.iter().find(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
    {
        return Err(Error::new_spanned(
            parameter,
            "a method that becomes a message cannot be generic: make the actor generic, or leave off `pub`",
        ));
    }
    if let Some(conditional) = function.attrs.iter().find(|attribute| is_conditional(attribute)) {
        return Err(Error::new_spanned(
            conditional,
            "an actor's messages cannot depend on `cfg` one by one: put it above `#[actor]`, or inside the method",
        ));
    }
    Ok(())
}

/// Whether the attribute could remove what it is on after we have looked at it.
pub(crate) fn is_conditional(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

fn receiver_is_mutable(receiver: &Receiver) -> Result<bool> {
    match &*receiver.ty {
        Type::Reference(reference) if is_self(&reference.elem) => {
            refuse_static(reference.lifetime.as_ref())?;
            Ok(reference.mutability.is_some())
        }
        _ => Err(Error::new_spanned(
            receiver,
            "an actor's state stays in the actor: a method that becomes a message takes `&self` or `&mut self`",
        )),
    }
}

/// The state and its objects are borrowed for a turn.
fn refuse_static(lifetime: Option<&Lifetime>) -> Result<()> {
    match lifetime {
        Some(lifetime) if lifetime.ident == "static" => {
            Err(Error::new_spanned(lifetime, "this is borrowed for one turn only: leave the lifetime off"))
        }
        _ => Ok(()),
    }
}

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self"))
}

/// `PutAll` for `put_all`. It points at the method, but lints treat it as generated: an unused method is reported once.
fn variant_name(method: &Ident) -> Ident {
    let mut name = String::new();
    for word in method.unraw().to_string().split('_') {
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    Ident::new(&name, Span::call_site().located_at(method.span()))
}

impl Parameter {
    fn read(parameter: &PatType, mutable: bool, block: &Block) -> Result<Self> {
        if let Some(conditional) = parameter.attrs.iter().find(|attribute| is_conditional(attribute)) {
            return Err(Error::new_spanned(conditional, "what a letter holds cannot depend on `cfg`"));
        }
        let name = match &*parameter.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern.ident.clone(),
            pattern => {
                return Err(Error::new_spanned(
                    pattern,
                    "senders pass this argument by name: give it one, and take it apart in the method",
                ));
            }
        };
        if let (Type::Reference(reference), Some(objects)) = (&*parameter.ty, &block.objects) {
            let exclusive = reference.mutability.is_some();
            if same(&reference.elem, &objects.one) {
                refuse_static(reference.lifetime.as_ref())?;
                return match mutable {
                    false => Ok(Self::Object { name, exclusive }),
                    true => Err(Error::new_spanned(
                        parameter,
                        format!(
                            "a `&mut self` method has all objects: take `&mut {}` or use `&self`",
                            readable(&objects.all)
                        ),
                    )),
                };
            }
            if same(&reference.elem, &objects.all) {
                refuse_static(reference.lifetime.as_ref())?;
                return match mutable {
                    true => Ok(Self::All),
                    false => Err(Error::new_spanned(
                        parameter,
                        format!(
                            "only a method that runs alone can have all objects: use `&mut self`, or name single ones with `&{}`",
                            readable(&objects.one)
                        ),
                    )),
                };
            }
        }
        if let Type::ImplTrait(written) = &*parameter.ty {
            return Err(Error::new_spanned(
                written,
                "a letter needs to know what it holds: name the argument's type instead of `impl Trait`",
            ));
        }
        if let Some(borrow) = borrow_in(&parameter.ty) {
            let objects = block.objects.as_ref().map(|objects| {
                let one = readable(&objects.one);
                format!(" (or name an object with `&{one}` or `&mut {one}`)")
            });
            return Err(Error::new_spanned(
                borrow,
                format!("arguments travel in a letter: pass an owned value{}", objects.unwrap_or_default()),
            ));
        }
        Ok(Self::Value { name, ty: Box::new(outside(&parameter.ty, block)) })
    }
}

/// What a parameter of type `Token<'t, T, E>` says.
struct Token {
    written: Type,
    lifetime: Option<Lifetime>,
    answer: Vec<Type>,
}

impl Token {
    fn read(ty: &Type) -> Option<Self> {
        let segment = last_segment(ty)?;
        (segment.ident == "Token").then(|| Self {
            written: ty.clone(),
            lifetime: lifetime_argument(segment),
            answer: type_arguments(segment),
        })
    }
}

impl Answer {
    fn read(output: &ReturnType, token: Option<Token>, block: &Block) -> Result<Self> {
        let unit = || parse_quote!(());
        let returned = match output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(&**ty),
        };
        let answered = returned.and_then(last_segment).filter(|segment| segment.ident == "Answered");
        match (token, answered) {
            (Some(token), Some(answered)) => token.into_answer(answered, block),
            (Some(token), None) => Err(Error::new_spanned(
                returned.unwrap_or(&token.written),
                "a method that takes a `Token<'t, T>` returns `Answered<'t>`, which using the token makes",
            )),
            (None, Some(answered)) => Err(Error::new_spanned(
                answered,
                "only a token makes an `Answered`: take a parameter `Token<'t, T>`, or return the answer itself",
            )),
            (None, None) => {
                let Some(ty) = returned else { return Ok(Self::Value(unit())) };
                refuse_borrowed_reply(ty)?;
                match last_segment(ty).filter(|segment| segment.ident == "Result").map(type_arguments).as_deref() {
                    Some([value, error]) => Ok(Self::Fallible(outside(value, block), outside(error, block))),
                    _ => Ok(Self::Value(outside(ty, block))),
                }
            }
        }
    }

    /// The types of the reply: the value's, then the error's where there is one.
    pub(crate) fn types(&self) -> Vec<&Type> {
        match self {
            Self::Value(value) | Self::Token(value, None) => vec![value],
            Self::Fallible(value, error) | Self::Token(value, Some(error)) => vec![value, error],
        }
    }
}

impl Token {
    fn into_answer(self, answered: &PathSegment, block: &Block) -> Result<Answer> {
        // Left to elision, `Answered<'_>` would take the lifetime of `self`.
        let named = self.lifetime.filter(|lifetime| lifetime.ident != "_" && lifetime.ident != "static");
        if named.is_none() || named != lifetime_argument(answered) {
            return Err(Error::new_spanned(
                self.written,
                "name the letter in both places: `fn method<'t>(…, token: Token<'t, T>) -> Answered<'t>`",
            ));
        }
        for ty in &self.answer {
            refuse_borrowed_reply(ty)?;
        }
        match self.answer.as_slice() {
            [value] => Ok(Answer::Token(outside(value, block), None)),
            [value, error] => Ok(Answer::Token(outside(value, block), Some(outside(error, block)))),
            _ => Err(Error::new_spanned(
                self.written,
                "a token says what it answers with: `Token<'t, T>` or `Token<'t, T, E>`",
            )),
        }
    }
}

fn refuse_borrowed_reply(ty: &Type) -> Result<()> {
    if let Type::ImplTrait(written) = ty {
        return Err(Error::new_spanned(written, "a promise needs to know what it holds: name the reply's type"));
    }
    match borrow_in(ty) {
        None => Ok(()),
        Some(borrow) => Err(Error::new_spanned(
            borrow,
            "a reply must be owned, since the actor goes on without it: return a copy of what the caller needs",
        )),
    }
}

/// Where the type borrows for less than `'static`, if it does.
fn borrow_in(ty: &Type) -> Option<TokenStream> {
    struct Borrows(Option<TokenStream>);

    impl<'ast> Visit<'ast> for Borrows {
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            if reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") {
                self.0.get_or_insert_with(|| reference.to_token_stream());
            }
            syn::visit::visit_type_reference(self, reference);
        }

        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            if lifetime.ident != "static" {
                self.0.get_or_insert_with(|| lifetime.to_token_stream());
            }
        }

        // The parameters of a function pointer, or of `dyn Fn(…)`, are borrowed when it is called, not now.
        fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
        fn visit_parenthesized_generic_arguments(&mut self, _: &'ast syn::ParenthesizedGenericArguments) {}
    }

    let mut borrows = Borrows(None);
    borrows.visit_type(ty);
    borrows.0
}

/// The type as it is written outside the `impl` block, where `Self` is something else.
fn outside(ty: &Type, block: &Block) -> Type {
    struct NameSelf<'a>(&'a Type);

    impl NameSelf<'_> {
        /// `Self::Word` becomes `<Dictionary>::Word`.
        fn qualify(&self, qself: &mut Option<QSelf>, path: &mut Path) {
            if qself.is_none() && path.segments.len() > 1 && path.segments[0].ident == "Self" {
                path.segments = path.segments.iter().skip(1).cloned().collect();
                path.leading_colon = Some(Default::default());
                *qself = Some(QSelf {
                    lt_token: Default::default(),
                    ty: Box::new(self.0.clone()),
                    position: 0,
                    as_token: None,
                    gt_token: Default::default(),
                });
            }
        }
    }

    impl VisitMut for NameSelf<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if is_self(ty) {
                *ty = self.0.clone();
            } else {
                syn::visit_mut::visit_type_mut(self, ty);
            }
        }

        fn visit_type_path_mut(&mut self, path: &mut syn::TypePath) {
            self.qualify(&mut path.qself, &mut path.path);
            syn::visit_mut::visit_type_path_mut(self, path);
        }

        fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
            self.qualify(&mut path.qself, &mut path.path);
            syn::visit_mut::visit_expr_path_mut(self, path);
        }
    }

    let mut ty = ty.clone();
    NameSelf(&block.actor).visit_type_mut(&mut ty);
    ty
}

/// The last segment of a path type: `Token<'t, u32>` of `flockwork::Token<'t, u32>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

pub(crate) fn type_arguments(segment: &PathSegment) -> Vec<Type> {
    arguments(segment)
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        })
        .collect()
}

fn lifetime_argument(segment: &PathSegment) -> Option<Lifetime> {
    arguments(segment).find_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) => Some(lifetime.clone()),
        _ => None,
    })
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let written = match &segment.arguments {
        PathArguments::AngleBracketed(written) => Some(&written.args),
        _ => None,
    };
    written.into_iter().flatten()
}

/// Whether two types are written alike.
fn same(one: &Type, other: &Type) -> bool {
    one.to_token_stream().to_string() == other.to_token_stream().to_string()
}

/// A type as one would write it, for messages.
fn readable(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")
}
