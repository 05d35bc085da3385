//! Random transactions, compared with a map.

use std::collections::BTreeMap;

use jeton_store::{Condition, Key, Mirror, Operation, Outcome, Revision, Txn, block_on};

use super::{key, prefix};
use crate::threads::Dice;
use crate::{Checked, Subject, ensure};

/// The model of a store.
#[derive(Default)]
struct Model(BTreeMap<Key, (Vec<u8>, Revision)>);

pub fn random_histories_match_the_model(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let all = prefix(&["m"]);
    let mut model = Model::default();
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let txn = random(&mut dice, &model);
        if txn.check().is_err() {
            continue;
        }
        let holds = model.holds(&txn);
        let outcome = block_on(store.commit(txn.clone()))?;
        match outcome {
            Outcome::Committed(revision) => {
                ensure!(
                    holds,
                    "step {seed} was committed although a condition was false: {txn:?}"
                );
                model.apply(&txn, revision);
            }
            Outcome::Conflict(_) => {
                ensure!(
                    !holds,
                    "step {seed} conflicts although all conditions were true: {txn:?}"
                );
            }
        }
        let mirror = block_on(Mirror::load(&*store, &all))?;
        let found: Vec<_> = mirror
            .entries()
            .map(|entry| (entry.key.clone(), (entry.value.clone(), entry.changed)))
            .collect();
        let expected: Vec<_> = model.0.clone().into_iter().collect();
        ensure!(
            found == expected,
            "after step {seed} the store differs from the model: {txn:?}"
        );
    }
    Ok(())
}

fn random(dice: &mut Dice, model: &Model) -> Txn {
    let mut txn = Txn::new();
    let any = |dice: &mut Dice| key(&["m", &dice.below(3).to_string(), &dice.below(4).to_string()]);
    for _ in 0..dice.below(3) {
        let name = any(dice);
        let condition = match dice.below(4) {
            0 => Condition::Absent,
            1 => Condition::Present,
            _ => match model.0.get(&name) {
                Some((_, changed)) => Condition::Unchanged(*changed),
                None => Condition::Absent,
            },
        };
        txn = txn.when(name, condition);
    }
    for _ in 0..=dice.below(4) {
        txn = match dice.below(6) {
            0 => txn.delete(any(dice)),
            1 if dice.below(3) == 0 => {
                txn.delete_prefix(prefix(&["m", &dice.below(3).to_string()]))
            }
            _ => txn.put(any(dice), dice.below(1000).to_string()),
        };
    }
    txn
}

impl Model {
    fn holds(&self, txn: &Txn) -> bool {
        txn.conditions().iter().all(|(key, condition)| {
            let changed = self.0.get(key).map(|(_, changed)| *changed);
            match condition {
                Condition::Absent => changed.is_none(),
                Condition::Present => changed.is_some(),
                Condition::Unchanged(since) => changed == Some(*since),
            }
        })
    }

    fn apply(&mut self, txn: &Txn, revision: Revision) {
        for operation in txn.operations() {
            match operation {
                Operation::Put(key, value) => {
                    self.0.insert(key.clone(), (value.clone(), revision));
                }
                Operation::Delete(key) => {
                    self.0.remove(key);
                }
                Operation::DeletePrefix(prefix) => self.0.retain(|key, _| !key.is_under(prefix)),
            }
        }
    }
}
