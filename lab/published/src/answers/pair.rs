//! Answers conclusions from a pair that differs in more than one factor: does the difference exist in
//! this run, and does it remain with the named factor only?

use super::evidence::{Compared, Evidence, Finding, Open, Parts};
use jeton_lab_model::result::{Answer, RowId, VerdictKind};

/// The conclusion about the first of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Faster,
    /// Not slower.
    AsFast,
    /// Neither faster nor slower.
    Equal,
}

impl Statement {
    fn agrees(self, kind: VerdictKind) -> Option<bool> {
        match (self, kind) {
            (_, VerdictKind::Undecided) => None,
            (Self::Faster, kind) => Some(kind == VerdictKind::Faster),
            (Self::AsFast, kind) => Some(kind != VerdictKind::Slower),
            (Self::Equal, kind) => Some(kind == VerdictKind::Equivalent),
        }
    }

    /// Describes verdicts that do not agree, if they are all the same.
    fn instead(self, kinds: &[VerdictKind]) -> Option<&'static str> {
        let all = |kind| kinds.iter().all(|one| *one == kind);
        match self {
            _ if all(VerdictKind::Equivalent) => Some("there is no difference above the noise"),
            Self::Faster if all(VerdictKind::Slower) => Some("it is the other way round"),
            _ if all(VerdictKind::Slower) => Some("it is slower"),
            _ if all(VerdictKind::Faster) => Some("it is faster"),
            _ => None,
        }
    }
}

/// Two works, or two sequences of works.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    pub(super) first: Vec<RowId>,
    pub(super) second: Vec<RowId>,
}

impl Pair {
    pub(super) fn new(first: RowId, second: RowId) -> Self {
        Self {
            first: vec![first],
            second: vec![second],
        }
    }

    fn compared(&self, evidence: &Evidence<'_>) -> Result<Compared, Open> {
        evidence.compare_sums(&self.first, &self.second)
    }
}

/// Several pairs together.
pub(super) struct Seen {
    /// All pairs agree.
    pub(super) agrees: bool,
    kinds: Vec<VerdictKind>,
    pub(super) words: String,
    pub(super) rows: Vec<RowId>,
}

/// Answers a conclusion from the original pairs and from pairs with one factor.
///
/// If all original pairs and all pairs with one factor agree, it holds. If an original pair disagrees,
/// it does not hold. If all original pairs agree and a pair with one factor does not, the difference
/// has another cause.
pub(super) fn confounded(
    evidence: &Evidence<'_>,
    said: Statement,
    published: &[Pair],
    one_factor: &[Pair],
) -> Result<Finding, Open> {
    let original = all(evidence, said, published)?;
    let as_published = format!("the original pair: {}", original.words);
    let mut rows = original.rows;
    if !original.agrees {
        let why = match said.instead(&original.kinds) {
            Some(instead) => {
                format!("the original pair does not show it in this run: {instead}")
            }
            None => "not every original pair shows it in this run".to_owned(),
        };
        return Ok(Finding::new(Answer::DoesNotHold, as_published, why, rows));
    }
    let other_work = other_work(published, one_factor);
    let both =
        |alone: &str| format!("{as_published}; one library and one algorithm{other_work}: {alone}");
    let alone = match all(evidence, said, one_factor) {
        Err(Open::Undecided {
            measured,
            rows: more,
        }) => {
            rows.extend(more);
            let measured = both(&measured);
            return Err(Open::Undecided { measured, rows });
        }
        alone => alone?,
    };
    rows.extend(alone.rows);
    let measured = both(&alone.words);
    Ok(if alone.agrees {
        let why = match said {
            Statement::AsFast => {
                "as fast means not slower; the format as the only factor shows it too"
            }
            _ => "the format as the only factor shows it too",
        };
        Finding::new(Answer::Holds, measured, why, rows)
    } else {
        let why = format!(
            "the pair differs in format, algorithm and library; with the format as the only factor {}, \
             so the format is not its cause",
            said.instead(&alone.kinds)
                .unwrap_or("not every pair shows it")
        );
        Finding::new(Answer::Artefact, measured, why, rows)
    })
}

/// Names the claims and the threads of the pairs with one factor, if they differ from those of the
/// original pairs: ` (standard claims, 1 thread)`.
fn other_work(published: &[Pair], one_factor: &[Pair]) -> String {
    let (theirs, own) = (Works::of(published), Works::of(one_factor));
    let mut parts = Vec::new();
    if own.claims != theirs.claims {
        parts.push(format!("{} claims", own.claims.join(" and ")));
    }
    if own.threads != theirs.threads {
        let threads = own.threads.iter().map(|threads| match threads {
            1 => "1 thread".to_owned(),
            more => format!("{more} threads"),
        });
        parts.push(threads.collect::<Vec<_>>().join(" and "));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

/// The claims and the threads of some pairs, each once.
#[derive(Default)]
struct Works<'p> {
    claims: Vec<&'p str>,
    threads: Vec<u32>,
}

impl<'p> Works<'p> {
    fn of(pairs: &'p [Pair]) -> Self {
        let mut works = Self::default();
        for work in pairs.iter().flat_map(|p| p.first.iter().chain(&p.second)) {
            if !works.claims.contains(&work.claims.as_str()) {
                works.claims.push(&work.claims);
            }
            if !works.threads.contains(&work.threads) {
                works.threads.push(work.threads);
            }
        }
        works
    }
}

/// Compares all pairs. A disagreement decides; otherwise an undecided pair leaves it open.
pub(super) fn all(evidence: &Evidence<'_>, said: Statement, pairs: &[Pair]) -> Result<Seen, Open> {
    let (mut parts, mut kinds) = (Parts::default(), Vec::new());
    for pair in pairs {
        let compared = pair.compared(evidence)?;
        kinds.push(compared.kind);
        parts.add("", &compared, said.agrees(compared.kind));
    }
    let (agrees, words) = parts.judged("")?;
    Ok(Seen {
        agrees,
        kinds,
        words,
        rows: parts.rows,
    })
}
