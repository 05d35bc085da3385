//! What `cargo xtask` and the studies in `studies/` share.

pub mod aws_lc;
pub mod command;
pub mod etcd;
pub mod fuzz;

/// The corpus of `lab attack`: inputs on which libraries disagree. Later runs replay it.
pub const DISAGREEMENTS: &str = "vectors/disagreements/cases.jsonl";

/// The tasks that are studies.
pub const STUDIES: [&str; 7] = [
    "agreement",
    "cluster-cost",
    "loaders",
    "service-cost",
    "service-instructions",
    "soak",
    "token-endpoint-cost",
];
