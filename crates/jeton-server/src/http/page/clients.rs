//! The clients of the configuration, with their calls since the start of the server.

use maud::{Markup, html};

use crate::auth::Authenticator;
use crate::metrics::ClientCount;

/// Clients in the table. Those with the most calls that did not succeed come first.
const SHOWN: usize = 100;

pub(super) fn section(authenticator: &Authenticator) -> Markup {
    let (mut clients, _) = authenticator.client_counts();
    // Stable: otherwise in the order of the configuration.
    clients.sort_by_key(|(_, count)| std::cmp::Reverse(count.failed()));
    let left_out = clients.len().saturating_sub(SHOWN);
    html! {
        section #clients aria-labelledby="clients-heading" {
            h2 #clients-heading { "Clients" }
            @if clients.is_empty() {
                p { "The configuration has no clients: every process of this machine may call the data listener." }
            } @else {
                div.scroll role="group" aria-label="Clients" tabindex="0" {
                    table {
                        caption { "Calls since the start of the server. Most failures first" }
                        thead {
                            tr {
                                @for head in ["Client", "Succeeded", "Failed", "Last call"] { th scope="col" { (head) } }
                            }
                        }
                        tbody {
                            @for (name, count) in clients.iter().take(SHOWN) {
                                tr {
                                    th scope="row" { (name) }
                                    td { (count.succeeded()) }
                                    td { (count.failed()) }
                                    td { (last(count)) }
                                }
                            }
                        }
                    }
                }
                @if left_out > 0 { p { "And " (left_out) " more." } }
            }
        }
    }
}

fn last(count: &ClientCount) -> String {
    let Some(ago) = count.last else {
        return "none".to_owned();
    };
    let seconds = ago.as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} minutes ago", seconds / 60),
        _ => format!("{} hours ago", seconds / 3600),
    }
}
