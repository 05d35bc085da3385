//! What the manifest's `start` says: where to listen, which keys, how many cores.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Every option is there, once.
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
                .ok_or_else(|| format!("{name} wants a value after it"))?;
            if options.insert(name.clone(), value).is_some() {
                return Err(format!("{name} is there twice"));
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
                .map_err(|_| "--listen wants an address, as in 127.0.0.1:0".to_owned())?,
            hs256: take("--hs256")?.into(),
            es256: take("--es256")?.into(),
            es256_public: take("--es256-public")?.into(),
            cores: match take("--cores")?.parse() {
                Ok(cores) if cores > 0 => cores,
                _ => return Err("--cores wants a number from 1 on".to_owned()),
            },
        };
        match options.into_keys().next() {
            Some(name) => Err(format!("{name} is no option")),
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
            (&format!("{whole} --tls on"), "--tls is no option"),
            (&format!("{whole} --cores 1"), "--cores is there twice"),
            (&format!("{whole} --quiet"), "wants a value"),
            (&whole.replace("127.0.0.1:0", "here"), "an address"),
            (&whole.replace("cores 3", "cores 0"), "from 1 on"),
        ] {
            assert!(read(line).is_err_and(|why| why.contains(what)), "{line}");
        }
    }
}
