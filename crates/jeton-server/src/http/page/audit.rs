//! The newest entries of the audit log.

use jeton_issuer::AuditEntry;
use maud::{Markup, html};

use super::time;

/// `None`: the store did not answer.
pub(super) fn section(entries: Option<&[AuditEntry]>) -> Markup {
    html! {
        section #audit aria-labelledby="audit-heading" {
            h2 #audit-heading { "Audit log" }
            @match entries {
                None => p { "Unknown, because the store does not answer." },
                Some([]) => p { "The store has no entries." },
                Some(entries) => (table(entries)),
            }
        }
    }
}

fn table(entries: &[AuditEntry]) -> Markup {
    html! {
        div.scroll role="group" aria-label="Audit log" tabindex="0" {
            table {
                caption { "The newest entries, the last one first. jeton admin audit shows all" }
                thead {
                    tr {
                        @for head in ["Time", "Actor", "Operation", "Issuer", "About"] { th scope="col" { (head) } }
                    }
                }
                tbody {
                    @for entry in entries {
                        tr {
                            th scope="row" { (time(entry.at)) }
                            td { (entry.actor) }
                            td { (entry.act) }
                            td { (entry.iss) }
                            td { (about(&entry.words())) }
                        }
                    }
                }
            }
        }
    }
}

/// An entry may name a hundred tokens.
fn about(all: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = all.iter().take(SHOWN).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_entry_says_how_many_are_left_out() {
        let all: Vec<String> = (1..6).map(|number| number.to_string()).collect();
        assert_eq!(about(&all), "1, 2, 3 and 2 more");
        assert_eq!(about(&all[..3]), "1, 2, 3");
        assert_eq!(about(&[]), "");
    }
}
