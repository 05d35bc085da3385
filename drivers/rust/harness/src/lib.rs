//! Shared code of the lab's Rust drivers. A driver is one file: it lists what its library offers
//! and turns a [`PrepareRequest`] into [`Work`]. The loop, the keys, the claims, the clock and the
//! counting are here. The protocol is described in `drivers/PROTOCOL.md`.
//!
//! | module | contents |
//! |---|---|
//! | [`protocol`] | requests, answers and offers |
//! | [`error`] | why a request failed |
//! | [`claims`] | the claims sets that are signed and decoded |
//! | [`policy`] | the policy check, for libraries that check no claims |
//! | [`key`] | JWKs, and the DER that most libraries need |
//! | [`work`] | one prepared operation, and the traits that a driver implements |
//! | [`conformance`] | for the tests of drivers: what all of them must accept and reject |
//! | [`page`] | for the tests of drivers: a page of the guide shows only code that compiles |
//! | [`serve`] | the loop, the clock, the threads |

pub mod claims;
pub mod conformance;
pub mod error;
pub mod key;
pub mod page;
pub mod policy;
pub mod protocol;
pub mod serve;
pub mod work;

pub use claims::{Claims, ClaimsVisitor, Pool, Standard, StandardPaseto};
pub use error::DriverError;
pub use key::{Jwk, KeyForm, KeyHandling, KeySource, KeyText, Keys};
pub use policy::Registered;
pub use protocol::{Offer, Operation, Policy, Practice, PrepareRequest, Trusted};
pub use serve::serve;
pub use work::{Rejection, Signer, Verifier, Work};

/// The claims of a set without a struct of its own: the map type a Rust user would take.
pub type Map = serde_json::Map<String, serde_json::Value>;

#[global_allocator]
static ALLOC: jeton_testkit::CountingAlloc = jeton_testkit::CountingAlloc;

/// A driver: one wrapped library.
pub trait Driver {
    /// The library's name in every table.
    const LIBRARY: &'static str;
    /// What the driver can do. A request outside this list never reaches [`Driver::prepare`].
    const OFFERS: &'static [Offer];
    /// What the driver checks by hand because the library does not: `jwe:claims`, `jwt:exp`, or the
    /// name of one attack, as in `jwt:audience-missing`.
    const BY_DRIVER: &'static [&'static str] = &[];
    /// What `verify` supports besides keys and a policy: `cached`, `issuers`.
    const EXTRAS: &'static [&'static str] = &[];
    /// The practices that the driver can follow. If empty, it follows only the documented one.
    const PRACTICES: &'static [Practice] = &[];

    /// Returns the version of the linked library. See [`locked_version`].
    fn version() -> String;

    /// Computes everything that can be computed once.
    ///
    /// # Errors
    ///
    /// [`DriverError::Unsupported`] for what the library cannot do, [`DriverError::Invalid`] for an
    /// inconsistent request, [`DriverError::Failed`] if the library fails on valid input.
    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError>;
}

/// Returns the version of `package` in a Cargo lockfile. A driver is built with `--locked`, so its
/// lockfile names the linked version.
#[must_use]
pub fn locked_version(lockfile: &str, package: &str) -> String {
    let name = format!("name = \"{package}\"");
    let mut lines = lockfile.lines().skip_while(|line| *line != name).skip(1);
    lines
        .next()
        .and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .unwrap_or("unknown")
        .to_owned()
}
