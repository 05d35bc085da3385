//! The glossary at the end of the page, and the links to it from the first use of each word.

use maud::{Markup, html};

use crate::section::{Kind, Section};

/// A word of the page.
struct Term {
    id: &'static str,
    name: &'static str,
    /// How the page writes it, in lower case.
    written: &'static [&'static str],
    meaning: &'static str,
}

const fn term(
    id: &'static str,
    name: &'static str,
    written: &'static [&'static str],
    meaning: &'static str,
) -> Term {
    Term {
        id,
        name,
        written,
        meaning,
    }
}

#[rustfmt::skip]
const TERMS: &[Term] = &[
    term("term-aa-pair", "A/A pair", &["a/a pair", "a/a pairs"], "Identical subjects that are measured twice. How far apart they come out is the noise of the run."),
    term("term-bare-primitive", "Bare primitive", &["bare primitive", "bare primitives"], "The cryptographic operation alone, without a token."),
    term("term-baseline", "Baseline", &["baseline"], "The subject that the ratios of one comparison refer to."),
    term("term-claims-set", "Claims set", &["claims set", "claims sets"], "The claims that a token carries. The standard set has eight claims in about 160 bytes."),
    term("term-confounded", "Confounded", &["confounded"], "More than one factor differs, so a difference has no single cause."),
    term("term-disturbed", "Disturbed run", &["disturbed"], "The machine did something else during the run. Small differences may come from that."),
    term("term-equivalent", "Equivalent", &["equivalent"], "The whole interval of the ratio is inside the noise band."),
    term("term-fast-jwt-cached", "fast-jwt-cached", &["fast-jwt-cached"], "fast-jwt with its cache of verified tokens. It does not verify a token that it has seen, so it is not compared."),
    term("term-group", "Group", &["group", "groups"], "Subjects between which the run shows no difference. The order inside a group has no meaning."),
    term("term-interval", "95 % interval", &["interval", "intervals"], "The true value lies inside in 95 of 100 runs, if the noise is as in this run."),
    term("term-managed", "Managed runtime", &["managed"], "Node, Java and Python: code that is compiled while it runs, or interpreted. Its noise is larger."),
    term("term-median", "Median", &["median", "medians"], "The middle value of the rounds."),
    term("term-nimbus-jose-jwt-accp", "nimbus-jose-jwt-accp", &["nimbus-jose-jwt-accp"], "nimbus-jose-jwt over the Amazon Corretto Crypto Provider: the same library with AWS-LC as its cryptography."),
    term("term-noise-band", "Noise band", &["noise band"], "The range around the baseline in which a difference means nothing: the noise floor, at least 2 %."),
    term("term-noise-floor", "Noise floor", &["noise floor"], "How far identical subjects came out apart in this run. A smaller difference means nothing."),
    term("term-preflight", "Preflight", &["preflight"], "Checks before timing: a library must verify the tokens of others and reject changed ones."),
    term("term-round", "Round", &["round", "rounds"], "One visit to all subjects in random order."),
    term("term-subject", "Subject", &["subject", "subjects"], "A library with one format, algorithm and way to handle keys."),
    term("term-sure", "Sure, fairly sure, not sure", &["sure", "fairly sure", "not sure"], "Sure: equivalent, or a difference of more than three times the noise band. Fairly sure: a smaller difference, or one of these in a disturbed or incomplete run, or at most half of the languages undecided. Not sure: undecided, or a small difference in such a run. Other machines were not measured."),
    term("term-undecided", "Undecided", &["undecided"], "The interval reaches across the noise band. For servers: repetitions overlap with those of the best one. More rounds or a quieter machine may decide."),
    term("term-verdict", "Verdict", &["verdict", "verdicts"], "Faster, slower, equivalent or undecided, against the baseline."),
];

/// The body of the glossary: every term. [`with_terms`] leaves those of the page.
pub(super) fn section() -> Section {
    Section::new("Glossary")
        .id("glossary")
        .markup(Kind::Block, entries(TERMS.iter()))
}

fn entries(terms: impl Iterator<Item = &'static Term>) -> Markup {
    html! { dl.glossary { @for term in terms { div { dt #(term.id) { (term.name) } dd { (term.meaning) } } } } }
}

impl Term {
    /// Reports whether a text in lower case has the term.
    fn is_in(&self, lower: &str) -> bool {
        (self.written.iter()).any(|word| find(lower, 0, word).is_some())
    }
}

/// Elements whose text has no links: they are links or controls already, or are no running text.
const SKIPPED: [&str; 14] = [
    "a", "button", "caption", "code", "dt", "h1", "h2", "h3", "h4", "pre", "script", "summary",
    "svg", "th",
];

/// The end of a tag whose text a library or a server wrote: its words may have another meaning.
const REASON: &str = "reason\">";

/// Links the first use of each term in the body of a page to its entry, and removes the entries of terms that
/// the page does not have.
///
/// The page is complete HTML as `maud` renders it, so `<` begins a tag and nothing else.
pub(super) fn with_terms(page: &str) -> String {
    let start = page.find("<body").unwrap_or(page.len());
    let end = page.find("<dl class=\"glossary\"").unwrap_or(page.len());
    let mut linked = String::with_capacity(page.len() + 2_000);
    linked.push_str(&page[..start]);
    let mut left: Vec<&Term> = TERMS.iter().collect();
    // The open elements whose text has no links.
    let mut skipped: Vec<&str> = Vec::new();
    let mut rest = &page[start..end];
    while let Some(tag) = rest.find('<') {
        let (text, from_tag) = rest.split_at(tag);
        if skipped.is_empty() {
            link(text, &mut left, &mut linked);
        } else {
            linked.push_str(text);
        }
        let close = from_tag.find('>').map_or(from_tag.len(), |at| at + 1);
        let (tag, after) = from_tag.split_at(close);
        let name = tag.trim_start_matches(['<', '/']);
        let name = name.split([' ', '>']).next().unwrap_or_default();
        if tag.starts_with("</") {
            if skipped.last() == Some(&name) {
                skipped.pop();
            }
        } else if SKIPPED.contains(&name) || skipped.last() == Some(&name) || tag.ends_with(REASON)
        {
            skipped.push(name);
        }
        linked.push_str(tag);
        rest = after;
    }
    linked.push_str(rest);
    let glossary = entries(TERMS.iter()).into_string();
    let Some(after) = page[end..].strip_prefix(&glossary) else {
        linked.push_str(&page[end..]);
        return linked;
    };
    let lower = page[start..end].to_ascii_lowercase();
    let used = TERMS.iter().filter(|term| term.is_in(&lower));
    linked.push_str(&entries(used).into_string());
    linked.push_str(after);
    linked
}

/// Copies a text, with links from the terms that have none yet.
fn link(text: &str, left: &mut Vec<&Term>, linked: &mut String) {
    let lower = text.to_ascii_lowercase();
    let mut at = 0;
    loop {
        let first = left.iter().enumerate().filter_map(|(index, term)| {
            let uses = term.written.iter();
            let found = uses.filter_map(|word| Some((find(&lower, at, word)?, word.len())));
            // Of two ways to write it at one place, the longer is the whole word.
            let (place, length) =
                found.min_by_key(|(place, length)| (*place, usize::MAX - length))?;
            Some((place, usize::MAX - length, index))
        });
        let Some((place, length, index)) = first.min() else {
            break;
        };
        let word = place..place + (usize::MAX - length);
        linked.push_str(&text[at..word.start]);
        let term = left.remove(index);
        linked.push_str(&format!(
            "<a class=\"term\" href=\"#{}\">{}</a>",
            term.id,
            &text[word.clone()]
        ));
        at = word.end;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_link_the_first_use_only() {
        let page = "<body><p>The noise floor, noise floor.</p></body>";
        let linked = with_terms(page);
        assert_eq!(
            linked,
            "<body><p>The <a class=\"term\" href=\"#term-noise-floor\">noise floor</a>, noise floor.</p></body>"
        );
    }

    #[test]
    fn terms_do_not_link_inside_links_and_headings() {
        for page in [
            "<body><a href=\"#x\">verdict</a></body>",
            "<body><h2>Verdicts</h2></body>",
            "<body><svg><text>baseline</text></svg></body>",
            "<body><p title=\"verdict\">grouped, round-trip</p></body>",
            "<body><span class=\"reason\">the same <span>subject</span> in each round</span></body>",
            "<body><table><tr><td class=\"text reason\">no interval</td></tr></table></body>",
        ] {
            assert_eq!(with_terms(page), page);
        }
    }

    #[test]
    fn terms_prefer_the_longer_word() {
        let linked = with_terms("<body><p>Rounds &amp; µ groups</p></body>");
        assert!(
            linked.contains("#term-round\">Rounds</a> &amp; µ <a class"),
            "{linked}"
        );
        assert!(linked.contains(">groups</a></p>"), "{linked}");
    }

    #[test]
    fn glossary_has_the_terms_of_the_page() {
        let page = format!(
            "<body><td>Equivalent</td>{}</body>",
            entries(TERMS.iter()).into_string()
        );
        let linked = with_terms(&page);
        assert_eq!(linked.matches("<dt").count(), 1, "{linked}");
        assert!(linked.contains("id=\"term-equivalent\""), "{linked}");
    }

    #[test]
    fn terms_are_sorted_and_unique() {
        let names: Vec<String> = TERMS.iter().map(|t| t.id.to_owned()).collect();
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(names, sorted);
    }
}
