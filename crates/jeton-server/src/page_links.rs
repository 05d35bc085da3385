//! One-time links to the page of the admin listener, and the sessions that they begin.
//!
//! A browser cannot send a bearer token, and not every operator has a certificate in it. So an administrator asks for a
//! link, and opens it. The browser then has a cookie, which is good for this page only. The server keeps digests, and
//! forgets all of them at a reload: the client may have lost its rights.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::{digest, rand};
use base64ct::{Base64UrlUnpadded, Encoding as _};
use jeton_store::Moment;

/// How long a link can be opened.
pub(crate) const LINK: Duration = Duration::from_secs(60);
/// How long a session lasts.
pub(crate) const SESSION: Duration = Duration::from_secs(30 * 60);
/// Maximum number of links, and of sessions. A further one replaces the oldest.
const MAX: usize = 32;

/// The links that nobody has opened, and the sessions.
#[derive(Debug, Default)]
pub(crate) struct PageLinks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    links: Vec<Grant>,
    sessions: Vec<Grant>,
}

#[derive(Debug)]
struct Grant {
    /// SHA-256 of the secret.
    digest: [u8; 32],
    /// The configuration that gave the client its right.
    generation: u64,
    /// The address of the browser, of a session.
    network: Option<IpAddr>,
    until: Moment,
}

/// Who opens a link or a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    /// The number of the configuration.
    pub(crate) generation: u64,
    pub(crate) network: IpAddr,
    pub(crate) now: Moment,
}

impl PageLinks {
    /// Returns the secret of a new link. `None`: the system has no random numbers.
    pub(crate) fn create(&self, generation: u64, now: Moment) -> Option<String> {
        let grant = |digest| Grant {
            digest,
            generation,
            network: None,
            until: now + LINK,
        };
        self.state().add(|state| &mut state.links, grant)
    }

    /// Begins a session with the secret of a link, and returns the secret of the session. `None`: the link was opened
    /// before, or has ended.
    pub(crate) fn open(&self, secret: &str, visit: Visit) -> Option<String> {
        let mut state = self.state();
        let wanted = digest_of(secret);
        let at = state.links.iter().position(|link| link.digest == wanted)?;
        let link = state.links.remove(at);
        let grant = |digest| Grant {
            digest,
            generation: visit.generation,
            network: Some(visit.network),
            until: visit.now + SESSION,
        };
        let is_valid = link.is_valid(visit);
        is_valid.then(|| state.add(|state| &mut state.sessions, grant))?
    }

    /// Whether the secret is that of a session of this browser.
    pub(crate) fn is_session(&self, secret: &str, visit: Visit) -> bool {
        let wanted = digest_of(secret);
        let state = self.state();
        let mut sessions = state.sessions.iter();
        sessions.any(|session| session.digest == wanted && session.is_valid(visit))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(
        &mut self,
        list: impl Fn(&mut State) -> &mut Vec<Grant>,
        grant: impl Fn([u8; 32]) -> Grant,
    ) -> Option<String> {
        let mut bytes = [0; 32];
        rand::fill(&mut bytes).ok()?;
        let secret = Base64UrlUnpadded::encode_string(&bytes);
        let list = list(self);
        if list.len() >= MAX {
            list.remove(0);
        }
        list.push(grant(digest_of(&secret)));
        Some(secret)
    }
}

impl Grant {
    fn is_valid(&self, visit: Visit) -> bool {
        self.generation == visit.generation
            && self.until > visit.now
            && self.network.is_none_or(|network| network == visit.network)
    }
}

fn digest_of(secret: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    let digest = digest::digest(&digest::SHA256, secret.as_bytes());
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn visit(now: Moment) -> Visit {
        Visit {
            generation: 3,
            network: LOCAL,
            now,
        }
    }

    #[test]
    fn link_opens_once_and_its_session_ends() {
        let (links, now) = (PageLinks::default(), Moment::now());
        let link = links.create(3, now).unwrap();
        assert_eq!(links.open("other", visit(now)), None);
        let session = links.open(&link, visit(now)).unwrap();
        assert_eq!(links.open(&link, visit(now)), None);
        assert!(links.is_session(&session, visit(now)));
        assert!(!links.is_session(&link, visit(now)), "a link is no session");
        let second = Duration::from_secs(1);
        let at = |after| visit(now + after);
        assert!(links.is_session(&session, at(SESSION - second)));
        assert!(!links.is_session(&session, at(SESSION)));
        // Of another browser, and after a reload.
        let other = Visit {
            network: [192, 0, 2, 7].into(),
            ..visit(now)
        };
        assert!(!links.is_session(&session, other));
        let reloaded = Visit {
            generation: 4,
            ..visit(now)
        };
        assert!(!links.is_session(&session, reloaded));
    }

    #[test]
    fn late_link_is_refused_and_many_links_are_bounded() {
        let (links, now) = (PageLinks::default(), Moment::now());
        let late = links.create(3, now).unwrap();
        assert_eq!(links.open(&late, visit(now + LINK)), None);
        let all: Vec<String> = (0..=MAX).map(|_| links.create(3, now).unwrap()).collect();
        assert_eq!(links.open(&all[0], visit(now)), None);
        assert!(
            all[1..]
                .iter()
                .all(|link| links.open(link, visit(now)).is_some())
        );
        assert_eq!(links.state().sessions.len(), MAX);
    }
}
