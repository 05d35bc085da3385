//! The options of the manifest's `start`: the address, the keys, the number of cores.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The options. Each is required exactly once.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) listen: SocketAddr,
    /// The bytes of the secret.
    pub(crate) hs256: PathBuf,
    /// The private key, PKCS#8 in PEM.
    pub(crate) es256: PathBuf,
    /// Its public half, SubjectPublicKeyInfo in PEM.
    pub(crate) es256_public: PathBuf,
    pub(crate) cores: usize,
}

impl Arguments {
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = BTreeMap::new();
        let mut words = words;
        while let Some(name) = words.next() {
            let value = words
                .next()
                .ok_or_else(|| format!("{name} requires a value"))?;
            if options.insert(name.clone(), value).is_some() {
                return Err(format!("{name} is given more than once"));
            }
        }
        let mut take = |name: &str| {
            options
                .remove(name)
                .ok_or_else(|| format!("{name} is missing"))
        };
        let arguments = Self {
            listen: take("--listen")?
                .parse()
                .map_err(|_| "--listen must be an address, for example 127.0.0.1:0".to_owned())?,
            hs256: take("--hs256")?.into(),
            es256: take("--es256")?.into(),
            es256_public: take("--es256-public")?.into(),
            cores: match take("--cores")?.parse() {
                Ok(cores) if cores > 0 => cores,
                _ => return Err("--cores must be at least 1".to_owned()),
            },
        };
        match options.into_keys().next() {
            Some(name) => Err(format!("unknown option {name}")),
            None => Ok(arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn arguments_require_every_option_exactly_once() {
        let whole = "--listen 127.0.0.1:0 --hs256 a --es256 b --es256-public c --cores 3";
        assert!(read(whole).is_ok_and(|arguments| arguments.cores == 3));
        for (line, what) in [
            ("--listen 127.0.0.1:0", "--hs256 is missing"),
            (&format!("{whole} --tls on"), "unknown option --tls"),
            (
                &format!("{whole} --cores 1"),
                "--cores is given more than once",
            ),
            (&format!("{whole} --quiet"), "requires a value"),
            (&whole.replace("127.0.0.1:0", "here"), "an address"),
            (&whole.replace("cores 3", "cores 0"), "at least 1"),
        ] {
            assert!(read(line).is_err_and(|why| why.contains(what)), "{line}");
        }
    }
}
