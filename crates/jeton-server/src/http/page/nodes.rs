//! The servers that run on the store.

use jeton_issuer::RunningNode as Running;
use jeton_proto::v1::RunningNode;
use maud::{Markup, html};

pub(super) fn section(nodes: &[RunningNode]) -> Markup {
    html! {
        section #servers aria-labelledby="servers-heading" {
            h2 #servers-heading { "Servers" }
            @if nodes.is_empty() {
                p { "No server has written its record yet." }
            } @else {
                (table(nodes))
            }
        }
    }
}

fn table(nodes: &[RunningNode]) -> Markup {
    html! {
        div.scroll role="group" aria-label="Servers" tabindex="0" {
            table {
                caption { "What jeton admin nodes shows. The clock is compared with that of this server" }
                thead {
                    tr {
                        @for head in ["Server", "State", "Version", "Clock", "Heard", "Revision", "Id"] {
                            th scope="col" { (head) }
                        }
                    }
                }
                tbody {
                    @for node in nodes {
                        tr {
                            th scope="row" { (node.name) }
                            td { (Running::state_text(node.is_self, node.is_running, node.ahead_seconds)) }
                            td { (node.version) }
                            td { (Running::clock_text(node.ahead_seconds)) }
                            td { (heard(node)) }
                            td { (node.revision) }
                            td { code { (node.id) } }
                        }
                    }
                }
            }
        }
    }
}

fn heard(node: &RunningNode) -> String {
    node.heard_seconds_ago
        .map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} s ago"))
}
