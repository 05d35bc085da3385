//! A search through every state that a model can be in, the nearest first: what it finds is as short as it
//! can be.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// The most states of one search: so many need a gigabyte.
const STATES: usize = 4_000_000;

/// What can happen, and what must never be.
pub(crate) trait Model: Clone + Hash {
    type Step: Copy + Debug;

    /// Everything that may happen next.
    fn steps(&self) -> Vec<Self::Step>;

    fn step(&self, step: Self::Step) -> Self;

    /// What is wrong, if anything is.
    fn check(&self) -> Result<(), String>;
}

/// What was found.
pub(crate) struct Explored<S> {
    pub(crate) states: usize,
    /// How that came, and what it is.
    pub(crate) wrong: Option<(Vec<S>, String)>,
}

/// All states that can be reached, or as many as it takes to find one that must not be.
pub(crate) fn explore<M: Model>(first: M) -> Explored<M::Step> {
    let mut known = HashSet::from([hash(&first)]);
    // How each state was reached: from which, and by what.
    let mut trail: Vec<Option<(u32, M::Step)>> = vec![None];
    let mut nearest = vec![(0, first)];
    while !nearest.is_empty() {
        assert!(known.len() <= STATES, "there are more than {STATES} states");
        let mut next = Vec::new();
        for (at, model) in nearest {
            if let Err(wrong) = model.check() {
                return Explored {
                    states: known.len(),
                    wrong: Some((history(&trail, at), wrong)),
                };
            }
            for step in model.steps() {
                let after = model.step(step);
                if known.insert(hash(&after)) {
                    let number = u32::try_from(trail.len()).expect("fewer states than 2^32");
                    trail.push(Some((at, step)));
                    next.push((number, after));
                }
            }
        }
        nearest = next;
    }
    Explored {
        states: known.len(),
        wrong: None,
    }
}

fn history<S: Copy>(trail: &[Option<(u32, S)>], mut at: u32) -> Vec<S> {
    let mut steps = Vec::new();
    while let Some((before, step)) = trail[at as usize] {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}

/// Twice as long as that of a hash table: no two states of a search have the same.
fn hash(state: &impl Hash) -> u128 {
    let half = |half: u8| {
        let mut hasher = DefaultHasher::new();
        half.hash(&mut hasher);
        state.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl<S: Debug> Explored<S> {
    /// A row of a table: what was searched, how many states there are, and what was found.
    pub(crate) fn print(&self, variant: impl Display) {
        let states = self.states;
        match &self.wrong {
            None => println!("| {variant} | {states} | nothing is wrong | |"),
            Some((steps, wrong)) => {
                let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
                println!("| {variant} | {states} | {wrong} | {} |", steps.join(", "));
            }
        }
    }
}
