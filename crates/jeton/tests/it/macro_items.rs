//! Expands the macros of a crate that define items, so that a listing of its sources has these items too.
//!
//! A macro is expanded if it has one rule that takes tokens, single fragments and repeated attributes.

use std::collections::HashMap;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, File, Ident, Item, Lit, Type};

/// The pattern and the body of a macro.
struct Rule {
    pattern: Vec<TokenTree>,
    body: TokenStream,
}

/// The tokens that a call passes for each name: one fragment, or all attributes.
type Captured = HashMap<String, Vec<TokenStream>>;

/// Adds the items that macros define to the files that call them.
pub(crate) fn expand(files: &mut [(String, File)]) {
    let mut rules = HashMap::new();
    for item in files.iter().flat_map(|(_, file)| &file.items) {
        if let Item::Macro(item) = item
            && let Some(name) = &item.ident
            && let Some(rule) = Rule::of(item.mac.tokens.clone())
        {
            rules.insert(name.to_string(), rule);
        }
    }
    for (_, file) in files {
        let mut defined = Vec::new();
        for item in &file.items {
            if let Item::Macro(item) = item
                && let Some(name) = item.mac.path.get_ident()
                && let Some(rule) = rules.get(&name.to_string())
            {
                defined.extend(rule.items(item.mac.tokens.clone()).unwrap_or_default());
            }
        }
        file.items.extend(defined);
    }
}

impl Rule {
    fn of(tokens: TokenStream) -> Option<Rule> {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let (pattern, body) = match &trees[..] {
            [TokenTree::Group(pattern), _, _, TokenTree::Group(body)]
            | [TokenTree::Group(pattern), _, _, TokenTree::Group(body), _] => (pattern, body),
            _ => return None,
        };
        Some(Rule {
            pattern: pattern.stream().into_iter().collect(),
            body: body.stream(),
        })
    }

    /// Returns the items of a call, if the rule is of a supported kind.
    fn items(&self, call: TokenStream) -> Option<Vec<Item>> {
        let mut captured = Captured::new();
        let read = |input: ParseStream<'_>| capture(&self.pattern, input, &mut captured);
        read.parse2(call).ok()?;
        let file: File = syn::parse2(substitute(self.body.clone(), &captured)).ok()?;
        Some(file.items)
    }
}

fn capture(
    pattern: &[TokenTree],
    input: ParseStream<'_>,
    captured: &mut Captured,
) -> syn::Result<()> {
    let mut rest = pattern;
    loop {
        rest = match rest {
            [] => return Ok(()),
            [
                TokenTree::Punct(dollar),
                TokenTree::Ident(name),
                TokenTree::Punct(_),
                TokenTree::Ident(kind),
                rest @ ..,
            ] if dollar.as_char() == '$' => {
                let fragment = match kind.to_string().as_str() {
                    "ident" => input.parse::<Ident>()?.into_token_stream(),
                    "literal" => input.parse::<Lit>()?.into_token_stream(),
                    "ty" => input.parse::<Type>()?.into_token_stream(),
                    _ => return Err(input.error("an unsupported kind of fragment")),
                };
                captured.insert(name.to_string(), vec![fragment]);
                rest
            }
            [
                TokenTree::Punct(dollar),
                TokenTree::Group(repeated),
                TokenTree::Punct(_),
                rest @ ..,
            ] if dollar.as_char() == '$' => {
                let name = attribute_name(repeated);
                let name = name.ok_or_else(|| input.error("an unsupported repetition"))?;
                let attributes = input.call(Attribute::parse_outer)?;
                let metas = attributes.iter().map(|one| one.meta.to_token_stream());
                captured.insert(name, metas.collect());
                rest
            }
            [TokenTree::Group(group), rest @ ..] => {
                let found: Group = input.parse()?;
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let read = |input: ParseStream<'_>| capture(&inner, input, captured);
                read.parse2(found.stream())?;
                rest
            }
            [token, rest @ ..] => {
                let found: TokenTree = input.parse()?;
                if found.to_string() != token.to_string() {
                    return Err(input.error("another token"));
                }
                rest
            }
        };
    }
}

/// Returns the name in `#[$name:meta]` or `#[$name]`.
fn attribute_name(repeated: &Group) -> Option<String> {
    let trees: Vec<TokenTree> = repeated.stream().into_iter().collect();
    let [TokenTree::Punct(_), TokenTree::Group(attribute)] = &trees[..] else {
        return None;
    };
    match attribute.stream().into_iter().nth(1)? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

fn substitute(body: TokenStream, captured: &Captured) -> TokenStream {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let mut expanded = TokenStream::new();
    let mut rest = &trees[..];
    loop {
        rest = match rest {
            [] => return expanded,
            [TokenTree::Punct(dollar), TokenTree::Ident(name), rest @ ..]
                if dollar.as_char() == '$' =>
            {
                let tokens = captured.get(&name.to_string());
                expanded.extend(tokens.into_iter().flatten().cloned());
                rest
            }
            [
                TokenTree::Punct(dollar),
                TokenTree::Group(repeated),
                TokenTree::Punct(_),
                rest @ ..,
            ] if dollar.as_char() == '$' => {
                let name = attribute_name(repeated).unwrap_or_default();
                for one in captured.get(&name).into_iter().flatten() {
                    let one = Captured::from([(name.clone(), vec![one.clone()])]);
                    expanded.extend(substitute(repeated.stream(), &one));
                }
                rest
            }
            [TokenTree::Group(group), rest @ ..] => {
                let inner = substitute(group.stream(), captured);
                let group = Group::new(group.delimiter(), inner);
                expanded.extend([TokenTree::Group(group)]);
                rest
            }
            [token, rest @ ..] => {
                expanded.extend([token.clone()]);
                rest
            }
        };
    }
}
