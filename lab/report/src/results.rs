//! A comparison of the results as a section: its chart with the noise band and the bare primitives, its table, its verdicts.

use jeton_lab_model::names;
use jeton_lab_model::result::NoiseFloor;
use jeton_lab_model::units;
use jeton_lab_stats::verdicts::band_for;

use crate::chart::{Axis, Chart, Drawing, Point, Row, Rows};
use crate::comparison::{Comparison, Entry, Role, columns, time};
use crate::recommendation::is_cache;
use crate::section::{Fold, Kind, Section, Sentence};
use crate::sentences;
use crate::table::{PAGE, TEXT, Table};

/// A longer version is shortened in a chart.
const VERSION_CHARS_MAX: usize = 16;

impl Comparison<'_> {
    /// Returns the section of the comparison. The page has its verdicts in another section.
    pub(crate) fn section(&self, noise: &NoiseFloor, is_open: bool) -> Section {
        let table = Table::new(self.caption(), "", &columns(self.shared()), &self.lines());
        let table = table.labelled_by(&self.anchor).figures();
        let factors = sentences::factors(self);
        let kind = if self.confounded {
            Kind::Callout("warn")
        } else {
            Kind::Note
        };
        let on_page = factors
            .clone()
            .map(|said| Sentence::new(kind, said).on(PAGE));
        let verdicts = sentences::verdicts(self).into_iter().chain(factors);
        let in_text = verdicts.map(|said| Sentence::new(Kind::Item, said).on(TEXT));
        let mut section = Section::new(&self.title)
            .id(&self.anchor)
            .beside(self.tag())
            .fold(Fold::open_if(is_open))
            .chart(self.chart(noise))
            .table(table.id(self.table_id()).folded("Table"));
        section.sentences = on_page.into_iter().chain(in_text).collect();
        section
    }

    fn chart(&self, noise: &NoiseFloor) -> Chart {
        let unit = self.shared().unit;
        let band = self.baseline().and_then(|baseline| {
            let managed = std::iter::once(baseline.row.subject.is_managed());
            let band = band_for(noise, managed, baseline.row.threads);
            let share = 1.0 + band.believed_beyond();
            let middle = time(baseline.row).filter(|_| band.is_known())?.median;
            Some([middle / share, middle, middle * share])
        });
        // A cache is not compared: its row is the last, and outside the axis.
        let (caches, entries): (Vec<_>, Vec<_>) = self.entries.iter().partition(|e| is_caching(e));
        let reference = |entry: &Entry<'_>| {
            let median = time(entry.row)?.median;
            let aside = format!(
                "{}, {}",
                names::algorithm(&entry.row.subject),
                unit.text(median)
            );
            Some((median, entry.name.clone(), aside))
        };
        let rows = entries.iter().chain(&caches);
        let rows = Rows {
            rows: rows.filter_map(|entry| entry.charted(unit)).collect(),
            band,
            references: self.references.iter().filter_map(reference).collect(),
        };
        let range = entries
            .first()
            .zip(entries.last())
            .and_then(|(first, last)| {
                let (fast, slow) = (time(first.row)?.median, time(last.row)?.median);
                let (fast, slow) = (unit.text(fast), unit.text(slow));
                Some(format!(
                    ", from {} at {fast} to {} at {slow}",
                    first.name, last.name
                ))
            });
        let label = format!(
            "Dot-and-interval chart, {}: time per operation of {} on a log axis{}. The table below has every figure.",
            self.title,
            units::count(self.entries.len(), "subject", "subjects"),
            range.unwrap_or_default()
        );
        Chart::new(
            label,
            self.table_id(),
            Axis::Time(unit),
            Drawing::Rows(rows),
        )
    }
}

impl Entry<'_> {
    fn charted(&self, unit: units::Unit) -> Option<Row> {
        let timing = time(self.row)?;
        let (kind, effect) = match self.role {
            Role::Baseline(_) => ("baseline", "baseline".to_owned()),
            Role::Compared(verdict) => (verdict.verdict.label(), sentences::short_effect(verdict)),
            Role::Reference | Role::Alone if is_caching(self) => {
                ("alone", "a cache, not compared".to_owned())
            }
            Role::Reference | Role::Alone => ("alone", "not compared".to_owned()),
        };
        let subject = &self.row.subject;
        let language = names::language(subject);
        // A name can have the language in brackets already.
        let is_named = self.name.ends_with(&format!("({language})"));
        let version = match subject.version.chars().count() {
            long if long > VERSION_CHARS_MAX => {
                let kept = subject.version.chars().take(VERSION_CHARS_MAX - 1);
                kept.chain(['…']).collect()
            }
            _ => subject.version.clone(),
        };
        let point = Point::new(kind, timing.median, timing.interval);
        Some(Row {
            name: self.name.clone(),
            aside: [
                version,
                if is_named {
                    String::new()
                } else {
                    language.to_owned()
                },
            ],
            value: unit.text(timing.median),
            effect: split(&effect),
            points: if is_caching(self) {
                Vec::new()
            } else {
                vec![point]
            },
        })
    }
}

fn is_caching(entry: &Entry<'_>) -> bool {
    matches!(entry.role, Role::Alone) && is_cache(entry.row.subject.driver())
}

/// Splits the direction from an effect: a narrow screen has no room for it, and the mark shows it too.
fn split(effect: &str) -> [String; 2] {
    let directions = [
        " faster",
        " slower",
        " less time",
        " more time",
        ", not compared",
    ];
    let found = directions
        .iter()
        .find_map(|direction| effect.strip_suffix(direction));
    let (effect, direction) = found.map_or((effect, ""), |start| effect.split_at(start.len()));
    [effect, direction].map(str::to_owned)
}
