//! The glossary at the end of the page, and the links to it from the first use of each word.

use maud::{Markup, html};

use crate::section::{Kind, Section};

/// A word of the page: its id, its name, how the page writes it in lower case, and its meaning.
type Term = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

#[rustfmt::skip]
const TERMS: &[Term] = &[
    ("term-aa-pair", "A/A pair", &["a/a pair", "a/a pairs"], "Identical subjects that are measured twice. How far apart they come out is the noise of the run."),
    ("term-bare-primitive", "Bare primitive", &["bare primitive", "bare primitives"], "The cryptographic operation alone, without a token."),
    ("term-baseline", "Baseline", &["baseline"], "The subject that the ratios of one comparison refer to."),
    ("term-claims-set", "Claims set", &["claims set", "claims sets"], "The claims that a token carries. The standard set has eight claims in about 160 bytes."),
    ("term-confounded", "Confounded", &["confounded"], "More than one factor differs, so a difference has no single cause."),
    ("term-disturbed", "Disturbed run", &["disturbed"], "The machine did something else during the run. Small differences may come from that."),
    ("term-equivalent", "Equivalent", &["equivalent"], "The whole interval of the ratio is inside the noise band."),
    ("term-fast-jwt-cached", "fast-jwt-cached", &["fast-jwt-cached"], "fast-jwt with its cache of verified tokens. It does not verify a token that it has seen, so it is not compared."),
    ("term-group", "Group", &["group", "groups"], "Subjects between which the run shows no difference. The order inside a group has no meaning."),
    ("term-interval", "95 % interval", &["interval", "intervals"], "The true value lies inside in 95 of 100 runs, if the noise is as in this run."),
    ("term-managed", "Managed runtime", &["managed"], "Node, Java and Python: code that is compiled while it runs, or interpreted. Its noise is larger."),
    ("term-median", "Median", &["median", "medians"], "The middle value of the rounds."),
    ("term-nimbus-jose-jwt-accp", "nimbus-jose-jwt-accp", &["nimbus-jose-jwt-accp"], "nimbus-jose-jwt over the Amazon Corretto Crypto Provider: the same library with AWS-LC as its cryptography."),
    ("term-noise-band", "Noise band", &["noise band"], "The range around the baseline in which a difference means nothing: the noise floor, at least 2 %."),
    ("term-noise-floor", "Noise floor", &["noise floor"], "How far identical subjects came out apart in this run. A smaller difference means nothing."),
    ("term-preflight", "Preflight", &["preflight"], "Checks before timing: a library must verify the tokens of others and reject changed ones."),
    ("term-round", "Round", &["round", "rounds"], "One visit to all subjects in random order."),
    ("term-subject", "Subject", &["subject", "subjects"], "A library with one format, algorithm and way to handle keys."),
    ("term-sure", "Sure, fairly sure, not sure", &["sure", "fairly sure", "not sure"], "Sure: equivalent, or a difference of more than three times the noise band. Fairly sure: a smaller difference, or one of these in a disturbed or incomplete run, or at most half of the languages undecided. Not sure: undecided, or a small difference in such a run. Other machines were not measured."),
    ("term-undecided", "Undecided", &["undecided"], "The interval reaches across the noise band. For servers: repetitions overlap with those of the best one. More rounds or a quieter machine may decide."),
    ("term-verdict", "Verdict", &["verdict", "verdicts"], "Faster, slower, equivalent or undecided, against the baseline."),
];

/// The body of the glossary: every term. [`with_terms`] leaves those of the page.
pub(super) fn section() -> Section {
    Section::new("Glossary")
        .id("glossary")
        .markup(Kind::Block, entries(TERMS.iter()))
}

fn entries(terms: impl Iterator<Item = &'static Term>) -> Markup {
    html! { dl.glossary { @for (id, name, _, meaning) in terms { div { dt #(id) { (name) } dd { (meaning) } } } } }
}

/// Elements whose text has no links: they are links or controls already, or are no running text.
#[rustfmt::skip]
const SKIPPED: [&str; 14] =
    ["a", "button", "caption", "code", "dt", "h1", "h2", "h3", "h4", "pre", "script", "summary", "svg", "th"];

/// The end of a tag whose text a library or a server wrote: its words may have another meaning.
const REASON: &str = "reason\">";

/// Links the first use of each term in the body of a page to its entry, and removes the entries of terms that
/// the page does not have.
///
/// The page is complete HTML as `maud` renders it, so `<` begins a tag and nothing else.
pub(super) fn with_terms(page: &str) -> String {
    let start = page.find("<body").unwrap_or(page.len());
    let end = page.find("<dl class=\"glossary\"").unwrap_or(page.len());
    let (head, mut rest, tail) = (&page[..start], &page[start..end], &page[end..]);
    let lower = rest.to_ascii_lowercase();
    let mut linked = head.to_owned();
    let mut left: Vec<&Term> = TERMS.iter().collect();
    // The open elements whose text has no links.
    let mut skipped: Vec<&str> = Vec::new();
    while let Some(tag) = rest.find('<') {
        let (text, from_tag) = rest.split_at(tag);
        if skipped.is_empty() {
            link(text, &mut left, &mut linked);
        } else {
            linked.push_str(text);
        }
        let close = from_tag.find('>').map_or(from_tag.len(), |at| at + 1);
        let (tag, after) = from_tag.split_at(close);
        let name = tag.trim_start_matches(['<', '/']).split([' ', '>']).next();
        let name = name.unwrap_or_default();
        let is_last = skipped.last() == Some(&name);
        if tag.starts_with("</") {
            skipped.truncate(skipped.len() - usize::from(is_last));
        } else if SKIPPED.contains(&name) || is_last || tag.ends_with(REASON) {
            skipped.push(name);
        }
        linked.push_str(tag);
        rest = after;
    }
    linked.push_str(rest);
    let is_used = |(.., words, _): &&Term| words.iter().any(|word| find(&lower, 0, word).is_some());
    let used = entries(TERMS.iter().filter(is_used)).into_string();
    linked + &tail.replacen(&entries(TERMS.iter()).into_string(), &used, 1)
}

/// Copies a text, with links from the terms that have none yet.
fn link(text: &str, left: &mut Vec<&Term>, linked: &mut String) {
    let lower = &*text.to_ascii_lowercase();
    let mut at = 0;
    loop {
        let first = left.iter().enumerate().flat_map(|(index, (.., words, _))| {
            let found = words.iter().map(move |word| (word, find(lower, at, word)));
            // Of two ways to write it at one place, the longer is the whole word.
            found.filter_map(move |(word, place)| Some((place?, usize::MAX - word.len(), index)))
        });
        let Some((place, length, index)) = first.min() else {
            break;
        };
        let end = place + (usize::MAX - length);
        let (before, word) = (&text[at..place], &text[place..end]);
        let (id, ..) = left.remove(index);
        linked.push_str(&format!(
            "{before}<a class=\"term\" href=\"#{id}\">{word}</a>"
        ));
        at = end;
    }
    linked.push_str(&text[at..]);
}

/// Finds a whole word from a position on.
fn find(text: &str, from: usize, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text[from..].match_indices(word).find_map(|(at, _)| {
        let at = from + at;
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        (!before.is_some_and(is_part) && !after.is_some_and(is_part)).then_some(at)
    })
}
