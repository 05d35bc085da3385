//! RSA private keys as RSAPrivateKey (RFC 8017, appendix A.1.2).

use pkcs1::RsaPrivateKeyRef;
use pkcs1::der::Decode as _;
use zeroize::Zeroizing;

use crate::crypto::rsa;
use crate::error::{KeyError, KeyProblem};

/// Returns the parts of an RSAPrivateKey (RFC 8017, appendix A.1.2) with two primes.
pub(crate) fn parts_from_pkcs1(der: &[u8]) -> Result<rsa::Parts, KeyError> {
    let malformed = |_| KeyError::new(KeyProblem::Malformed).with_expected("PKCS#1");
    let key = RsaPrivateKeyRef::from_der(der).map_err(malformed)?;
    if key.other_prime_infos.is_some() {
        return Err(KeyError::at("otherPrimeInfos", KeyProblem::Unsupported));
    }
    let secret = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
    Ok(rsa::Parts {
        n: key.modulus.as_bytes().to_vec(),
        e: key.public_exponent.as_bytes().to_vec(),
        d: secret(key.private_exponent.as_bytes()),
        p: secret(key.prime1.as_bytes()),
        q: secret(key.prime2.as_bytes()),
        dp: secret(key.exponent1.as_bytes()),
        dq: secret(key.exponent2.as_bytes()),
        qi: secret(key.coefficient.as_bytes()),
    })
}
