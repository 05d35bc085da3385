//! Answers conclusions from a pair that differs in more than one factor: does the difference exist in
//! this run, and does it remain with the named factor only?

use super::evidence::{Evidence, Finding, Open, Parts};
use jeton_lab_model::result::{Answer, RowId, VerdictKind};

/// Report 1 with one factor: a JWT with Ed25519, as the PASETO beside it, in one library.
pub(super) const ONE_JWT: &str = "rust/jeton:jwt:EdDSA:prepared";

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
    pub(super) fn works(&self) -> impl Iterator<Item = &RowId> {
        self.first.iter().chain(&self.second)
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

/// Answers a conclusion from the original pairs and from pairs with one factor. If several works are added, it names the
/// sizes of the tokens too.
///
/// If all original pairs and all pairs with one factor agree, it holds. If an original pair disagrees,
/// it does not hold. If all original pairs agree and a pair with one factor does not, the difference
/// has another cause.
pub(super) fn answer(
    e: &Evidence<'_>,
    said: Statement,
    published: &[Pair],
    one_factor: &[Pair],
) -> Result<Finding, Open> {
    let found = confounded(e, said, published, one_factor);
    if published[0].first.len() == 1 {
        return found;
    }
    Ok(with_sizes(
        e,
        published,
        one_factor,
        found.unwrap_or_else(Finding::open),
    ))
}

fn confounded(
    evidence: &Evidence<'_>,
    said: Statement,
    published: &[Pair],
    one_factor: &[Pair],
) -> Result<Finding, Open> {
    let original = all(evidence, said, published)?;
    let as_published = format!("the original pair: {}", original.words);
    let mut rows = original.rows;
    if !original.agrees {
        let why = said.instead(&original.kinds).map_or_else(
            || "not every original pair shows it in this run".to_owned(),
            |instead| format!("the original pair does not show it in this run: {instead}"),
        );
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
    if alone.agrees {
        let why = match said {
            Statement::AsFast => {
                "as fast means not slower; the format as the only factor shows it too"
            }
            _ => "the format as the only factor shows it too",
        };
        return Ok(Finding::new(Answer::Holds, measured, why, rows));
    }
    let instead = said
        .instead(&alone.kinds)
        .unwrap_or("not every pair shows it");
    let why = format!(
        "the pair differs in format, algorithm and library; with the format as the only factor {instead}, \
         so the format is not its cause"
    );
    Ok(Finding::new(Answer::Artefact, measured, why, rows))
}

/// Names the claims and the threads of the pairs with one factor, if they differ from those of the
/// original pairs: ` (standard claims, 1 thread)`.
fn other_work(published: &[Pair], one_factor: &[Pair]) -> String {
    fn of<'p, T: PartialEq>(pairs: &'p [Pair], what: impl Fn(&'p RowId) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for one in pairs.iter().flat_map(Pair::works).map(what) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }
    let claims = [published, one_factor].map(|pairs| of(pairs, |work| work.claims.as_str()));
    let threads = [published, one_factor].map(|pairs| of(pairs, |work| work.threads));
    let mut parts = Vec::new();
    if claims[0] != claims[1] {
        parts.push(format!("{} claims", claims[1].join(" and ")));
    }
    if threads[0] != threads[1] {
        let threads = threads[1].iter().map(|threads| match threads {
            1 => "1 thread".to_owned(),
            more => format!("{more} threads"),
        });
        parts.push(threads.collect::<Vec<_>>().join(" and "));
    }
    match parts.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join(", ")),
    }
}

/// Adds the sizes of the tokens to an answer: those of the original pair, and those of the pairs with one
/// factor, if they took part and their claims are others. That of the JWT comes first.
fn with_sizes(
    e: &Evidence<'_>,
    published: &[Pair],
    one_factor: &[Pair],
    mut found: Finding,
) -> Finding {
    let sizes = |pair: &Pair| {
        let size = |work: &RowId| Some((!work.subject.contains(":jwt:"), e.size(work).ok()?));
        let sizes = size(&pair.first[0]).zip(size(&pair.second[0]));
        sizes.map(|(one, other)| {
            let (jwt, paseto) = if one < other {
                (one, other)
            } else {
                (other, one)
            };
            format!("{} and {}", jwt.1, paseto.1)
        })
    };
    let original = sizes(&published[0]).filter(|_| found.answer != Answer::NotMeasured);
    let Some(original) = original else {
        return found;
    };
    let text = format!("; each signed and parsed once; the original tokens have {original} bytes");
    found.measured.push_str(&text);
    let took_part = found.rows.iter().any(|row| row.subject == ONE_JWT);
    let claims = |pairs: &[Pair]| -> Vec<String> {
        pairs
            .iter()
            .map(|pair| pair.first[0].claims.clone())
            .collect()
    };
    let own: Vec<String> = one_factor.iter().filter_map(sizes).collect();
    if took_part && claims(one_factor) != claims(published) && !own.is_empty() {
        let text = format!(", those with one factor {}", own.join(", "));
        found.measured.push_str(&text);
    }
    found
}

/// Compares all pairs. A disagreement decides; otherwise an undecided pair leaves it open.
pub(super) fn all(evidence: &Evidence<'_>, said: Statement, pairs: &[Pair]) -> Result<Seen, Open> {
    let (mut parts, mut kinds) = (Parts::default(), Vec::new());
    for pair in pairs {
        let compared = evidence.compare_sums(&pair.first, &pair.second)?;
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
