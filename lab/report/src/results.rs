//! A comparison of the results as a section: its chart with the noise band and the bare primitives, its table, its verdicts.

use jeton_lab_model::names;
use jeton_lab_model::result::NoiseFloor;
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::verdicts::band_for;
use maud::html;

use crate::chart::{Axis, Chart, Point, Row, cut};
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
        let table = table.labelled_by(&self.anchor);
        let factors = sentences::factors(&[self]);
        let kind = if self.confounded {
            Kind::Callout("warn")
        } else {
            Kind::Note
        };
        let on_page = factors
            .iter()
            .map(|said| Sentence::new(kind, said).on(PAGE));
        let in_text = sentences::verdicts(self).into_iter().chain(factors.clone());
        let in_text = in_text.map(|said| Sentence::new(Kind::Item, said).on(TEXT));
        let section = Section::new(&self.title)
            .id(&self.anchor)
            .beside(html! { @if self.confounded { span.tag.warn { "confounded" } } })
            .fold(Fold::open_if(is_open))
            .charted(self.chart(noise), table.folded("Table"));
        on_page.chain(in_text).fold(section, Section::with)
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
            let (algorithm, shown) = (names::algorithm(&entry.row.subject), unit.text(median));
            Some((median, entry.name.clone(), format!("{algorithm}, {shown}")))
        };
        let end = |entry: Option<&&Entry<'_>>| {
            let (name, timing) = (&entry?.name, time(entry?.row)?);
            Some(format!("{name} at {}", unit.text(timing.median)))
        };
        let range = end(entries.first()).zip(end(entries.last()));
        let range = range.map(|(first, last)| format!(", from {first} to {last}"));
        let label = format!(
            "Dot-and-interval chart, {}: time per operation of {} on a log axis{}. The table below has every figure.",
            self.title,
            units::count(self.entries.len(), "subject", "subjects"),
            range.unwrap_or_default()
        );
        let number = self.anchor.split('-').next().unwrap_or_default();
        let rows = entries.iter().chain(&caches);
        let rows = rows.filter_map(|entry| entry.charted(unit)).collect();
        Chart {
            band,
            references: self.references.iter().filter_map(reference).collect(),
            ..Chart::rows(label, format!("{number}-table"), Axis::Time(unit), rows)
        }
    }
}

impl Entry<'_> {
    fn charted(&self, unit: Unit) -> Option<Row> {
        let timing = time(self.row)?;
        let (kind, (effect, direction)) = match self.role {
            Role::Baseline(_) => ("baseline", ("baseline".to_owned(), "")),
            Role::Compared(verdict) => (verdict.verdict.label(), sentences::effect(verdict)),
            _ if is_caching(self) => ("alone", ("a cache".to_owned(), ", not compared")),
            Role::Reference | Role::Alone => ("alone", ("not compared".to_owned(), "")),
        };
        let subject = &self.row.subject;
        let language = names::language(subject);
        // A name can have the language in brackets already.
        let is_named = self.name.ends_with(&format!("({language})"));
        let language = if is_named { "" } else { language };
        let points = [Point::new(kind, timing.median, timing.interval)];
        Some(Row {
            name: self.name.clone(),
            aside: [
                cut(&subject.version, VERSION_CHARS_MAX),
                language.to_owned(),
            ],
            value: unit.text(timing.median),
            // A narrow screen has no room for the direction, and the mark shows it too.
            effect: [effect, direction.to_owned()],
            points: (points.into_iter()).filter(|_| !is_caching(self)).collect(),
        })
    }
}

fn is_caching(entry: &Entry<'_>) -> bool {
    matches!(entry.role, Role::Alone) && is_cache(entry.row.subject.driver())
}
