//! How many pairs a task measures: `--pairs N`.

use xtask::command::Error;

/// The intervals of fewer pairs are too wide to decide anything.
const MIN_PAIRS: usize = 3;
const MAX_PAIRS: usize = 30;

/// So many pairs, unless told otherwise.
pub(crate) const DEFAULT: usize = 10;

/// How many pairs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) pairs: usize,
}

impl Plan {
    /// Reads `--pairs N`, the only option of `task`.
    pub(crate) fn parse(task: &str, options: &[String]) -> Result<Self, Error> {
        match options {
            [] => Ok(Self { pairs: DEFAULT }),
            [option, value] if option == "--pairs" => number(value).map(|pairs| Self { pairs }),
            [option] if option == "--pairs" => number("").map(|pairs| Self { pairs }),
            _ => Err(Error::Usage(format!("`{task}` has one option, --pairs N"))),
        }
    }
}

/// The number after `--pairs`.
pub(crate) fn number(value: &str) -> Result<usize, Error> {
    (value.parse().ok())
        .filter(|pairs| (MIN_PAIRS..=MAX_PAIRS).contains(pairs))
        .ok_or_else(|| Error::Usage(format!("--pairs must be from {MIN_PAIRS} to {MAX_PAIRS}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn ten_pairs_unless_told_otherwise() {
        let parse = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
            Plan::parse("loaders", &options)
        };
        assert_eq!(parse(&[]).unwrap(), Plan { pairs: 10 });
        assert_eq!(parse(&["--pairs", "3"]).unwrap(), Plan { pairs: 3 });
        for wrong in [&["--pairs"][..], &["--pairs", "2"], &["--only", "go"]] {
            assert!(matches!(parse(wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }
}
