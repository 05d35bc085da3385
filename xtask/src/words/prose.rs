//! Counts sentences and words of a Markdown page.
//!
//! Code blocks, headings, tables, HTML and pictures do not count. A list item is a paragraph of its own.
//! A sentence ends at `.`, `!`, `?` or the end of its paragraph: a semicolon or colon does not end one.
//! Inline code is one word.

use std::ops::AddAssign;

/// How many sentences and words.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) sentences: usize,
    pub(super) words: usize,
}

impl Count {
    /// Counts one page.
    pub(super) fn of(page: &str) -> Self {
        let mut count = Self::default();
        for paragraph in paragraphs(page) {
            count += Self::of_paragraph(&paragraph);
        }
        count
    }

    /// Words per sentence, 0 without a sentence.
    pub(super) fn average(self) -> f64 {
        if self.sentences == 0 {
            0.0
        } else {
            self.words as f64 / self.sentences as f64
        }
    }

    fn of_paragraph(paragraph: &str) -> Self {
        let plain = without_code_and_links(paragraph);
        let mut count = Self::default();
        let mut words = 0;
        for word in plain.split_whitespace() {
            if word.chars().any(char::is_alphanumeric) {
                words += 1;
            }
            if ends_sentence(word) && words > 0 {
                count += Self {
                    sentences: 1,
                    words,
                };
                words = 0;
            }
        }
        if words > 0 {
            count += Self {
                sentences: 1,
                words,
            };
        }
        count
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.words += other.words;
    }
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', '_']);
    let abbreviation = matches!(bare, "e.g." | "i.e." | "vs." | "cf.");
    bare.ends_with(['.', '!', '?']) && !abbreviation
}

/// The paragraphs of prose, each on one line.
fn paragraphs(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = String::new();
    let mut fenced = false;
    for line in page.lines() {
        let line = line.trim();
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        let picture = line.starts_with("![");
        if fence || fenced || picture || line.is_empty() || line.starts_with(['#', '|', '<']) {
            all.push(std::mem::take(&mut open));
            continue;
        }
        let text = match item(line) {
            Some(text) => {
                all.push(std::mem::take(&mut open));
                text
            }
            None => line,
        };
        open.push_str(text.trim_start_matches(['>', ' ']));
        open.push(' ');
    }
    all.push(open);
    all.retain(|paragraph| !paragraph.is_empty());
    all
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '+']);
    let numbered = || {
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (rest.len() < line.len()).then(|| rest.strip_prefix(['.', ')']))?
    };
    bullet
        .or_else(numbered)
        .filter(|text| text.starts_with(' '))
        .map(str::trim_start)
}

/// `paragraph` with each piece of inline code as one word, and of each link only its text.
fn without_code_and_links(paragraph: &str) -> String {
    let mut plain = String::with_capacity(paragraph.len());
    let mut code = false;
    for piece in paragraph.split('`') {
        plain.push_str(if code { "code" } else { piece });
        code = !code;
    }
    while let Some(middle) = plain.find("](") {
        let Some(length) = plain[middle..].find(')') else {
            break;
        };
        plain.replace_range(middle..=middle + length, "");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(page: &str) -> (usize, usize) {
        let count = Count::of(page);
        (count.sentences, count.words)
    }

    #[test]
    fn sentence_ends_at_a_full_stop_and_at_its_paragraph() {
        assert_eq!(count("One two. Three four\nfive.\n\nSix"), (3, 6));
        assert_eq!(count("One: two; three, four."), (1, 4));
        assert_eq!(count("It is (so). Is it?"), (2, 5));
    }

    #[test]
    fn headings_tables_and_code_do_not_count() {
        let page = "# A heading of five words\n\n| a | b c d |\n\n```\nlet x = 1.\n```\n\nOne.";
        assert_eq!(count(page), (1, 1));
    }

    #[test]
    fn list_item_is_a_sentence() {
        assert_eq!(count("- one\n- two three\n10. four"), (3, 4));
    }

    #[test]
    fn inline_code_is_one_word_and_a_link_is_its_text() {
        assert_eq!(
            count("Run `cargo xtask test. Now` [the page](a.md) here."),
            (1, 5)
        );
    }

    #[test]
    fn page_without_text_has_an_average_of_zero() {
        assert!(Count::of("").average().abs() < f64::EPSILON);
    }
}
