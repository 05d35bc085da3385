//! The algorithms of the servers suite.

use crate::name_table::named;

named! {
    /// The algorithm of a token, with its name in a JWT header, a PASETO prefix and requests.
    Algorithm {
        /// HMAC with SHA-256, with one secret.
        Hs256 = "HS256",
        /// ECDSA on P-256 with SHA-256.
        Es256 = "ES256",
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        Rs256 = "RS256",
        /// Ed25519, by its name in JWTs.
        EdDsa = "EdDSA",
        /// PASETO v4.public: Ed25519.
        V4Public = "v4.public",
        /// PASETO v4.local: XChaCha20 and BLAKE2b, with one secret.
        V4Local = "v4.local",
    }
}

impl Algorithm {
    /// The two algorithms of jwt-with-grpc-performance-tests.
    pub const REPORT: [Self; 2] = [Self::Hs256, Self::Es256];

    /// Returns the algorithm of that report with this name.
    ///
    /// # Errors
    ///
    /// A sentence that names the algorithms.
    pub fn of_the_report(name: &str) -> Result<Self, String> {
        let known = Self::REPORT.into_iter().find(|alg| alg.name() == name);
        known.ok_or_else(|| "GenerateJwt supports HS256 and ES256".to_owned())
    }
}
