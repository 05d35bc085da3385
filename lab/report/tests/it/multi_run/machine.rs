//! Which runs are of one machine, and how others are handled.

use jeton_lab_model::result::{Environment, Processor};
use jeton_lab_report::multi_run::{Outcome, Question, Unjudgeable, gate};

use crate::stored;

use super::{change, compare, compare_across, judged, question, run};

/// Returns the differences between a run and one with an edited environment, and the differing
/// settings.
fn differences(edit: impl FnOnce(&mut Environment)) -> [Vec<String>; 2] {
    let (before, mut after) = (run(1), run(2));
    edit(&mut after.environment);
    let compared = compare(&before, &after);
    [compared.another_machine, compared.settings]
        .map(|found| found.iter().map(ToString::to_string).collect())
}

fn processor(environment: &mut Environment) -> &mut Processor {
    &mut environment.processor
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn compare_different_cpu_is_another_machine() {
    type Edit = (&'static str, fn(&mut Environment));
    let edits: [Edit; 6] = [
        ("CPU: AMD EPYC 9R14 / Xeon", |e| e.cpu = "Xeon".into()),
        ("CPU family: 25 / 26", |e| processor(e).family = text("26")),
        ("CPU model: 17 / 1", |e| processor(e).model = text("1")),
        ("CPU stepping: 1 / 2", |e| processor(e).stepping = text("2")),
        ("CPU flags: vaes / none of these", |e| {
            e.flags.retain(|flag| flag != "vaes");
        }),
        ("CPU flags: aes / avx512ifma", |e| {
            e.flags.retain(|flag| flag != "aes");
            e.flags.push("avx512ifma".into());
        }),
    ];
    for (said, edit) in edits {
        assert_eq!(differences(edit), [vec![said.to_owned()], Vec::new()]);
    }
}

#[test]
fn compare_other_microcode_leaves_no_controls() {
    let edit = |e: &mut Environment| processor(e).microcode = text("0xa101154");
    let said = vec!["microcode: 0xa101148 / 0xa101154".to_owned()];
    assert_eq!(differences(edit), [Vec::new(), said]);
    let (before, mut after) = (run(1), run(2));
    edit(&mut after.environment);
    assert_eq!(compare(&before, &after).unchanged, 0);
}

#[test]
fn compare_fact_of_one_file_is_no_difference() {
    let (before, mut after) = (run(1), run(2));
    after.environment.flags.push("avx512ifma".into());
    let looked_for = &mut processor(&mut after.environment).flags_looked_for;
    looked_for.retain(|flag| flag != "avx512ifma");
    assert_eq!(compare(&before, &after).another_machine, []);
    processor(&mut after.environment).stepping = None;
    assert_eq!(compare(&before, &after).another_machine, []);
}

#[test]
fn gate_across_cpus_compares() {
    let (before, mut after) = (run(1), run(2));
    processor(&mut after.environment).model = text("1");
    let refused = judged(&before, &after, 0.05).unwrap_err();
    assert!(
        matches!(&refused, Unjudgeable::AnotherMachine(_)),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("CPU model: 17 / 1"),
        "{refused}"
    );
    change(&mut after, "jeton", 2.0);
    let told_to = Question {
        across_cpus: true,
        ..question(0.05)
    };
    let found = gate(&before, &after, &told_to).unwrap();
    assert_eq!(found.outcome, Outcome::Regression);
    assert_eq!(
        found.another_machine.len(),
        1,
        "it is reported all the same"
    );
    let shown = compare_across(&before, &after, true);
    assert!(shown.changes[0].verdict.is_some());
}

#[test]
fn stored_runs_do_not_regress() {
    for kind in ["full", "sdks"] {
        let result = stored::run(kind);
        // The same times, as if measured again.
        let mut again = result.clone();
        again.seed += 1;
        again.runs.iter_mut().for_each(|run| run.seed += 1);
        // A run may say itself that it was disturbed.
        let judged = |before, after| {
            let question = Question {
                allow_noisy: true,
                ..question(0.05)
            };
            gate(before, after, &question).unwrap()
        };
        let found = judged(&result, &again);
        assert_eq!(found.outcome, Outcome::NoRegression, "{kind}");
        let mut slow = again.clone();
        let row = slow
            .rows
            .measured
            .iter_mut()
            .find(|row| row.ns_per_op.is_some());
        super::scale_rounds(row.unwrap(), |_| 2.0);
        let found = judged(&result, &slow);
        assert_eq!(found.outcome, Outcome::Undecided, "{kind}");
    }
}

#[test]
fn compare_hypervisor_of_unknown_kind_is_no_difference() {
    let between = |one: Option<&str>, other: Option<&str>| {
        let (mut before, mut after) = (run(1), run(2));
        before.environment.hypervisor = one.map(str::to_owned);
        after.environment.hypervisor = other.map(str::to_owned);
        compare(&before, &after).another_machine.len()
    };
    let unknown = "yes, of unknown kind";
    assert_eq!(between(Some(unknown), Some(unknown)), 0);
    assert_eq!(between(Some(unknown), Some("KVM")), 0);
    assert_eq!(between(Some("Xen"), Some("KVM")), 1);
    assert_eq!(between(Some(unknown), None), 1);
}
