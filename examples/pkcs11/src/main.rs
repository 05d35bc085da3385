//! A command line for keys and tokens of an HSM; see README.md.

use std::error::Error;
use std::time::Duration;

use jeton::Claims;
use jeton::key::SigAlg;
use jeton_example_pkcs11::Hsm;

const USAGE: &str =
    "usage: new LABEL ALG | public LABEL ALG | issue LABEL ALG ISSUER AUDIENCE [SALT_BYTES]
with PKCS11_MODULE (a file), PKCS11_TOKEN (a label) and PKCS11_PIN in the environment";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [verb, label, alg, rest @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let alg: SigAlg = alg.parse()?;
    let hsm = Hsm::open(
        said("PKCS11_MODULE")?,
        &said("PKCS11_TOKEN")?,
        &said("PKCS11_PIN")?,
    )?;
    match (*verb, rest) {
        ("new", []) => hsm.generate(label, alg)?,
        ("public", []) => println!("{}", hsm.public(label, alg)?.to_jwk()),
        ("issue", [issuer, audience, salt @ ..]) => {
            let salt_bytes = salt.first().map(|bytes| bytes.parse()).transpose()?;
            let signer = hsm.signer_with_salt(label, alg, salt_bytes)?;
            let claims = Claims::new(())
                .issuer(*issuer)
                .audience(*audience)
                .expires_in(Duration::from_mins(15));
            println!("{}", signer.issue(&claims)?);
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn said(name: &str) -> Result<String, Box<dyn Error>> {
    std::env::var(name).map_err(|_| format!("{name} is not set\n{USAGE}").into())
}
