//! Report 3's conclusions: which server? `jeton lab servers` measures them, `jeton lab run` does not.

use super::evidence::Finding;
use super::{Claim, claim, of};
use crate::published::source::REPORT_3;
use crate::result::ClaimAnswered;

pub(super) fn answers() -> Vec<ClaimAnswered> {
    let unanswered = || {
        Finding::missing("the servers, which are another verb: no rows of them are here".to_owned())
    };
    let claims: Vec<Claim> = vec![
        claim(
            "3.1a",
            "On one core the Go server answers 1.48 and 1.45 × the requests of Node with HS256, 1.17 \
             and 1.11 × with ES256.",
            unanswered(),
        ),
        claim(
            "3.1b",
            "On three cores it answers 1.25 and 1.32 × with HS256, 1.08 and 1.07 × with ES256.",
            unanswered(),
        ),
        claim(
            "3.2a",
            "The Go server's memory peaks at 18 to 20 MB.",
            unanswered(),
        ),
        claim(
            "3.2b",
            "Node's peaks at 105 MB for each process, 40 MB of them at rest.",
            unanswered(),
        ),
    ];
    of(REPORT_3, claims)
}
