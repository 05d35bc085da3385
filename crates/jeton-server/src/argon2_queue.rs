//! Runs slow comparisons of secrets, a few at a time.
//!
//! Argon2id takes megabytes and tens of milliseconds. Anyone can cause it, so its memory is allocated once, and the
//! number of comparisons that wait is bounded. At the bound, a comparison for whom few wait takes the place of one
//! for whom many wait, and a client of the configuration that of a name that does not exist.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::client_secret::Argon2Memory;
use crate::failure::Failure;
use crate::limits::{ARGON2_AT_ONCE, ARGON2_WAITING};

/// The queue, for all workers.
#[derive(Debug)]
pub(crate) struct Argon2Queue(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The memory of comparisons that do not run. It is allocated by the first, and kept.
    free: Vec<Argon2Memory>,
    waiting: Vec<Waiting>,
    /// For whom the latest comparisons began.
    begun: VecDeque<Applicant>,
}

/// For whom a comparison runs: an address, or a client behind a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applicant {
    /// An address, or a network of a host.
    Network(IpAddr),
    /// The `client_id` of a request that a proxy passes on.
    Name(String),
}

#[derive(Debug)]
struct Waiting {
    applicant: Applicant,
    is_client: bool,
    begin: oneshot::Sender<Memory>,
}

/// The memory of a comparison. Dropping it lets the next one begin.
#[derive(Debug)]
struct Memory {
    memory: Option<Argon2Memory>,
    queue: Arc<Mutex<State>>,
}

impl Argon2Queue {
    pub(crate) fn new() -> Argon2Queue {
        Argon2Queue(Arc::new(Mutex::new(State {
            free: (0..ARGON2_AT_ONCE)
                .map(|_| Argon2Memory::default())
                .collect(),
            waiting: Vec::new(),
            begun: VecDeque::new(),
        })))
    }

    /// Runs a comparison on another thread. `is_client`: the name is that of a client.
    ///
    /// # Errors
    ///
    /// [`Failure::Overloaded`] if too many wait already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        applicant: Applicant,
        is_client: bool,
        work: impl FnOnce(&mut Argon2Memory) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let begun = self.enter(applicant, is_client);
        let mut memory = begun.await.map_err(|_| busy())?;
        // The memory goes with the work: a caller that goes away does not end it.
        let task = tokio::task::spawn_blocking(move || memory.memory.as_mut().map(work));
        task.await.ok().flatten().ok_or_else(busy)
    }

    fn enter(&self, applicant: Applicant, is_client: bool) -> oneshot::Receiver<Memory> {
        let (begin, begun) = oneshot::channel();
        let mut state = lock(&self.0);
        // Callers that went away.
        state.waiting.retain(|waiting| !waiting.begin.is_closed());
        let waiting = Waiting {
            applicant,
            is_client,
            begin,
        };
        if state.waiting.len() < ARGON2_WAITING || state.make_room(&waiting) {
            state.waiting.push(waiting);
        }
        state.begin_next(&self.0);
        begun
    }
}

fn busy() -> Failure {
    let most = ARGON2_WAITING;
    let what = format!("{most} attempts to authenticate wait, maximum {most}, retry later");
    Failure::Overloaded(what.into())
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn count(&self, applicant: &Applicant) -> usize {
        let of = |waiting: &&Waiting| waiting.applicant == *applicant;
        self.waiting.iter().filter(of).count()
    }

    /// Removes the newest request that counts less than the new one. Returns false if every request counts as much.
    fn make_room(&mut self, new: &Waiting) -> bool {
        let own = self.count(&new.applicant) + 1;
        let rank = |waiting: &Waiting| (self.count(&waiting.applicant), !waiting.is_client);
        let least = (0..self.waiting.len()).max_by_key(|index| rank(&self.waiting[*index]));
        let Some(index) = least else { return false };
        let (count, is_nobody) = rank(&self.waiting[index]);
        let is_less = count > own || is_nobody && new.is_client;
        if is_less {
            // Its caller is refused.
            self.waiting.remove(index);
        }
        is_less
    }

    /// Begins comparisons while there is memory for one, those first for whom the fewest began of late.
    fn begin_next(&mut self, queue: &Arc<Mutex<State>>) {
        while !self.free.is_empty() && !self.waiting.is_empty() {
            let begun = |index: &usize| {
                let applicant = &self.waiting[*index].applicant;
                self.begun
                    .iter()
                    .filter(|other| *other == applicant)
                    .count()
            };
            let Some(index) = (0..self.waiting.len()).min_by_key(begun) else {
                return;
            };
            let Waiting {
                applicant, begin, ..
            } = self.waiting.remove(index);
            let memory = Memory {
                memory: self.free.pop(),
                queue: queue.clone(),
            };
            match begin.send(memory) {
                Ok(()) => {
                    self.begun.push_back(applicant);
                    if self.begun.len() > ARGON2_WAITING {
                        self.begun.pop_front();
                    }
                }
                // The caller went away.
                Err(mut memory) => self.free.extend(memory.memory.take()),
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            let mut state = lock(&self.queue);
            state.free.push(memory);
            state.begin_next(&self.queue);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn address(last: u8) -> Applicant {
        Applicant::Network(IpAddr::from([192, 0, 2, last]))
    }

    /// Whether it waits, was refused, or may begin.
    fn state(of: &mut oneshot::Receiver<Memory>) -> &'static str {
        match of.try_recv() {
            Ok(memory) => {
                // It never ends.
                std::mem::forget(memory);
                "begun"
            }
            Err(oneshot::error::TryRecvError::Empty) => "waits",
            Err(oneshot::error::TryRecvError::Closed) => "refused",
        }
    }

    #[test]
    fn address_with_few_attempts_takes_the_place_of_one_with_many() {
        let queue = Argon2Queue::new();
        let mut many: Vec<_> = (0..40).map(|_| queue.enter(address(1), true)).collect();
        let states: Vec<_> = many.iter_mut().map(state).collect();
        let count = |what| states.iter().filter(|state| **state == what).count();
        assert_eq!(
            (count("begun"), count("waits"), count("refused")),
            (
                ARGON2_AT_ONCE,
                ARGON2_WAITING,
                40 - ARGON2_AT_ONCE - ARGON2_WAITING
            )
        );
        let mut other = queue.enter(address(2), false);
        assert_eq!(state(&mut other), "waits");
        // The newest of the many made room, and the other is next.
        assert_eq!(
            state(&mut many[ARGON2_AT_ONCE + ARGON2_WAITING - 1]),
            "refused"
        );
        let done = Memory {
            memory: Some(Argon2Memory::default()),
            queue: queue.0.clone(),
        };
        drop(done);
        assert_eq!(state(&mut other), "begun");
    }

    #[test]
    fn client_takes_the_place_of_a_name_that_does_not_exist() {
        let queue = Argon2Queue::new();
        let all: Vec<_> = (0..ARGON2_AT_ONCE + ARGON2_WAITING)
            .map(|index| queue.enter(address(index as u8), false))
            .collect();
        let mut nobody = queue.enter(address(100), false);
        assert_eq!(state(&mut nobody), "refused");
        let mut client = queue.enter(address(101), true);
        assert_eq!(state(&mut client), "waits");
        drop(all);
    }

    #[tokio::test]
    async fn memory_is_used_again() {
        let queue = Argon2Queue::new();
        for _ in 0..10 {
            let run = queue.run(address(1), true, |_| ());
            run.await.unwrap();
        }
        assert_eq!(lock(&queue.0).free.len(), ARGON2_AT_ONCE);
        let ended = queue.run(address(1), true, |_| {
            std::panic::resume_unwind(Box::new(()))
        });
        assert!(ended.await.is_err());
        assert_eq!(lock(&queue.0).free.len(), ARGON2_AT_ONCE);
    }
}
