//! An opaque token: a random text that refers to claims in a table.
//!
//! Shows what a service without self-contained tokens does. The cost of reaching it is not
//! included: the table is a hash map in the same process.

use crate::{ClaimsSet, now_s};
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jeton_driver_harness::{
    ClaimsVisitor, DriverError, Operation, Policy, PrepareRequest, Rejection, Signer, Verifier,
    Work, work,
};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

/// The number of tokens kept. A new token replaces the oldest.
const REMEMBERED: usize = 1 << 16;

pub(crate) fn prepare<C: ClaimsSet>(
    request: &PrepareRequest,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, DriverError> {
    let table = Arc::new(RwLock::new(Table::default()));
    let opener = Opener {
        table: Arc::clone(&table),
        policy: request.policy.clone(),
    };
    if request.operation == Operation::Verify {
        let mut entries = table.write().unwrap_or_else(PoisonError::into_inner);
        for (token, claims) in request.tokens.iter().zip(&pool) {
            entries.enter(token.clone(), claims.clone());
        }
        drop(entries);
        return work::verify(opener, request.tokens.clone());
    }
    let issuer = Issuer { table, pool };
    Ok(match request.operation {
        Operation::RoundTrip => work::round_trip(issuer, opener),
        _ => work::sign(issuer),
    })
}

struct Table<C> {
    claims: HashMap<String, C>,
    oldest: VecDeque<String>,
}

impl<C> Default for Table<C> {
    fn default() -> Self {
        Self {
            claims: HashMap::new(),
            oldest: VecDeque::new(),
        }
    }
}

impl<C> Table<C> {
    fn enter(&mut self, token: String, claims: C) {
        if self.oldest.len() == REMEMBERED
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.claims.remove(&oldest);
        }
        self.oldest.push_back(token.clone());
        self.claims.insert(token, claims);
    }
}

struct Issuer<C> {
    table: Arc<RwLock<Table<C>>>,
    pool: Vec<C>,
}

impl<C: ClaimsSet> Signer for Issuer<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        let mut random = [0; 32];
        rand::fill(&mut random).map_err(|error| error.to_string())?;
        let token = URL_SAFE_NO_PAD.encode(random);
        let claims = self.pool[index].clone();
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.enter(token.clone(), claims);
        Ok(token)
    }
}

struct Opener<C> {
    table: Arc<RwLock<Table<C>>>,
    policy: Policy,
}

impl<C: ClaimsSet> Verifier for Opener<C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        (): &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let claims = table.claims.get(token).ok_or("the token is unknown")?;
        self.policy.check(claims, now_s())?;
        Ok(visit.visit(claims))
    }
}
