//! Search through every state of a model: breadth first for the shortest counterexample, depth first for
//! little memory.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Maximum states of a breadth-first search, about one gigabyte.
const STATES: usize = 16_000_000;

/// Maximum states of a depth-first search, about seven gigabytes.
const STATES_DEPTH_FIRST: usize = 200_000_000;

/// A model with its steps and its invariant.
pub(crate) trait Model: Clone + Hash {
    type Step: Copy + Debug;

    /// Returns the possible next steps.
    fn steps(&self) -> Vec<Self::Step>;

    fn step(&self, step: Self::Step) -> Self;

    /// Checks the invariant.
    fn check(&self) -> Result<(), String>;
}

/// The result of a search.
pub(crate) struct Explored<S> {
    pub(crate) states: usize,
    /// The steps to the violation, and its description.
    pub(crate) wrong: Option<(Vec<S>, String)>,
}

/// Explores all reachable states breadth first, or until the first violation.
pub(crate) fn explore<M: Model>(first: M) -> Explored<M::Step> {
    let mut known = HashSet::from([hash(&first)]);
    // Predecessor and step of each state.
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

/// Explores all reachable states depth first, or until the first violation. It keeps only the hash of a
/// state, and the states on the way to the current one.
pub(crate) fn explore_depth_first<M: Model>(first: M) -> Explored<M::Step> {
    let mut known = HashSet::from([hash(&first)]);
    let mut way = vec![(None, first.steps(), first)];
    while let Some((_, steps, model)) = way.last_mut() {
        let Some(step) = steps.pop() else {
            way.pop();
            continue;
        };
        let after = model.step(step);
        if !known.insert(hash(&after)) {
            continue;
        }
        let states = known.len();
        assert!(
            states <= STATES_DEPTH_FIRST,
            "there are more than {STATES_DEPTH_FIRST} states"
        );
        if let Err(wrong) = after.check() {
            let steps = way.iter().filter_map(|(step, _, _)| *step);
            let wrong = Some((steps.chain([step]).collect(), wrong));
            return Explored { states, wrong };
        }
        way.push((Some(step), after.steps(), after));
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

/// 128 bits, so that two states of a search practically never collide.
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
    /// Prints a table row: variant, number of states, and result.
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
