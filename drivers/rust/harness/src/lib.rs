//! What the lab's Rust drivers share. A driver is one file: it says what its library offers and
//! turns an [`PrepareRequest`] into [`Work`]; the loop, the keys, the claims, the clock and the counting are
//! here. The operation is `drivers/PROTOCOL.md`.
//!
//! | module | what |
//! |---|---|
//! | [`protocol`] | requests, answers, what a driver offers and how it refuses |
//! | [`claims`] | the claims sets that are signed and decoded |
//! | [`policy`] | the policy by hand, for libraries that check no claims |
//! | [`key`] | JWKs, and the DER that most libraries want instead |
//! | [`work`] | one prepared operation, and the shapes that a driver fills in |
//! | `conformance` | for the tests of drivers: what all of them must do and refuse |
//! | [`serve`] | the loop, the clock, the threads |

pub mod claims;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod key;
pub mod policy;
pub mod protocol;
pub mod serve;
pub mod work;

pub use claims::{Claims, ClaimsVisitor, Pool, Standard, StandardPaseto};
pub use key::{Jwk, KeySource, Keys};
pub use policy::Registered;
pub use protocol::{
    DriverError, KeyForm, KeyHandling, KeyText, Offer, Operation, Policy, Practice, PrepareRequest,
};
pub use serve::serve;
pub use work::{Rejection, Signer, Verifier, Work};

/// The claims of a set that has no struct of its own: the map type a Rust user would take.
pub type Map = serde_json::Map<String, serde_json::Value>;

#[global_allocator]
static ALLOC: jeton_testkit::CountingAlloc = jeton_testkit::CountingAlloc;

/// One library, wrapped.
pub trait Driver {
    /// The library's name in every table.
    const LIBRARY: &'static str;
    /// What the driver can do. An order outside of this never reaches [`Driver::prepare`].
    const OFFERS: &'static [Offer];
    /// What the driver checks by hand because the library does not: `jwe:claims`, `jwt:exp`, or the
    /// name of one attack, as in `jwt:audience-missing`.
    const BY_DRIVER: &'static [&'static str] = &[];
    /// The practices that it can be told to follow; none: it knows its own alone, which is the
    /// documented one.
    const PRACTICES: &'static [Practice] = &[];

    /// The library's version, as it was linked; see [`locked_version`].
    fn version() -> String;

    /// Computes all that can be computed once.
    ///
    /// # Errors
    ///
    /// [`DriverError::Unsupported`] for what the library cannot do, [`DriverError::Invalid`] for an order
    /// that makes no sense, [`DriverError::Failed`] if the library refused what it should take.
    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError>;
}

/// The version of `package` in a Cargo lockfile. A driver is built `--locked`, so the lockfile
/// that it was compiled beside names what was linked.
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
