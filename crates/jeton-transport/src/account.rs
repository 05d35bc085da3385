//! One account for the memory that clients make the server hold.
//!
//! The limits per message, stream, connection and server multiply to more memory than a machine has. So connections,
//! requests and unread responses are charged to one account, with a total for all and a share for each address and
//! each client. What exceeds either is refused.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::limits::{RETURN_MEMORY_INTERVAL, RETURNED_BYTES, SMALL_HOLDER_BYTES};

/// The account of a server.
#[derive(Debug)]
pub struct Account {
    total: Counter,
    share: usize,
    refused: AtomicU64,
    shares: Mutex<HashMap<Holder, Weak<Share>>>,
}

/// What one address or client holds.
#[derive(Debug)]
pub(crate) struct Share {
    account: Arc<Account>,
    holder: Holder,
    held: Counter,
}

/// Who has a share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    /// An IPv4 address, or an IPv6 network of 64 bits: a host chooses the rest of its address.
    Network(IpAddr),
    Client(String),
    /// The address of a proxy of the configuration. It has no limit.
    Proxy(IpAddr),
}

#[derive(Debug, Default)]
struct Counter {
    held: AtomicUsize,
    limit: usize,
}

/// The memory of one connection or request. Dropping it returns the bytes.
#[derive(Debug)]
pub struct Charge {
    address: Arc<Share>,
    /// Set once the client is known, for calls that may hold much.
    client: OnceLock<Arc<Share>>,
    bytes: AtomicUsize,
}

/// A limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    whose: &'static str,
    option: &'static str,
    /// What would be held.
    bytes: usize,
    limit: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refused {
            whose,
            option,
            bytes,
            limit,
        } = self;
        write!(
            f,
            "requests and unread responses of {whose} would take {bytes} bytes of memory, maximum {limit} \
             (`{option}`), retry later"
        )
    }
}

impl Refused {
    /// Whether it is the total that is reached.
    pub(crate) fn is_total(self) -> bool {
        self.option == TOTAL_OPTION
    }
}

/// The options with the limits.
const TOTAL_OPTION: &str = "limits.memory_bytes";
const SHARE_OPTION: &str = "limits.memory_share_bytes";

impl Account {
    pub(crate) fn new(total: usize, share: usize) -> Arc<Account> {
        Arc::new(Account {
            total: Counter {
                held: AtomicUsize::new(0),
                limit: total,
            },
            share,
            refused: AtomicU64::new(0),
            shares: Mutex::default(),
        })
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.total.held.load(Ordering::Relaxed)
    }

    /// The total, bytes.
    pub fn limit(&self) -> usize {
        self.total.limit
    }

    /// How often something was refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The largest share that is held now, bytes.
    pub fn largest_share(&self) -> usize {
        // Dropping the last reference takes the lock.
        let shares: Vec<_> = self.shares().values().filter_map(Weak::upgrade).collect();
        let held = shares
            .iter()
            .map(|share| share.held.held.load(Ordering::Relaxed));
        held.max().unwrap_or_default()
    }

    pub(crate) fn of_address(self: &Arc<Account>, address: IpAddr) -> Arc<Share> {
        self.share(Holder::Network(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            four => four,
        }))
    }

    pub(crate) fn of_proxy(self: &Arc<Account>, address: IpAddr) -> Arc<Share> {
        self.share(Holder::Proxy(address))
    }

    fn share(self: &Arc<Account>, holder: Holder) -> Arc<Share> {
        let mut shares = self.shares();
        if let Some(share) = shares.get(&holder).and_then(Weak::upgrade) {
            return share;
        }
        let limit = match holder {
            Holder::Proxy(_) => usize::MAX,
            _ => self.share,
        };
        let share = Arc::new(Share {
            account: self.clone(),
            holder: holder.clone(),
            held: Counter {
                held: AtomicUsize::new(0),
                limit,
            },
        });
        shares.insert(holder, Arc::downgrade(&share));
        share
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<Holder, Weak<Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(
        &self,
        whose: &'static str,
        option: &'static str,
        bytes: usize,
        limit: usize,
    ) -> Refused {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Refused {
            whose,
            option,
            bytes,
            limit,
        }
    }
}

/// Returns memory to the system after clients have made the server hold much, and no longer do.
pub async fn return_memory(account: Arc<Account>) {
    let mut most = 0;
    loop {
        tokio::time::sleep(RETURN_MEMORY_INTERVAL).await;
        let held = account.held();
        most = held.max(most);
        if most - held >= RETURNED_BYTES {
            most = held;
            // The allocator is locked meanwhile.
            let _ = tokio::task::spawn_blocking(jeton_heap::return_free_pages).await;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut shares = self.account.shares();
        // Another one may have been made since the last use of this one ended.
        if shares
            .get(&self.holder)
            .is_some_and(|share| share.strong_count() == 0)
        {
            shares.remove(&self.holder);
        }
    }
}

impl Counter {
    /// Adds the bytes, or returns how many it would be.
    fn add(&self, bytes: usize, limit: usize) -> Result<usize, usize> {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if held <= limit {
            return Ok(held);
        }
        self.sub(bytes);
        Err(held)
    }

    fn sub(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Share {
    /// The address of the holder, or its network.
    pub(crate) fn network(&self) -> IpAddr {
        match self.holder {
            Holder::Network(address) | Holder::Proxy(address) => address,
            Holder::Client(_) => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    pub(crate) fn is_proxy(&self) -> bool {
        matches!(self.holder, Holder::Proxy(_))
    }

    fn add(&self, bytes: usize) -> Result<usize, Refused> {
        let limit = self.held.limit;
        self.held.add(bytes, limit).map_err(|held| {
            let whose = match self.holder {
                Holder::Client(_) => "this client",
                _ => "this address",
            };
            self.account.refuse(whose, SHARE_OPTION, held, limit)
        })
    }
}

impl Charge {
    pub(crate) fn new(address: &Arc<Share>, bytes: usize) -> Result<Charge, Refused> {
        let charge = Charge {
            address: address.clone(),
            client: OnceLock::new(),
            bytes: AtomicUsize::new(0),
        };
        charge.add(bytes)?;
        Ok(charge)
    }

    pub(crate) fn address(&self) -> &Arc<Share> {
        &self.address
    }

    /// Charges further bytes.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the share or the account has no room. Nothing is charged then.
    pub fn add(&self, bytes: usize) -> Result<(), Refused> {
        let account = &self.address.account;
        let held = self.address.add(bytes)?;
        if let Some(client) = self.client.get()
            && let Err(refused) = client.add(bytes)
        {
            self.address.held.sub(bytes);
            return Err(refused);
        }
        // The last tenth is for those who hold little: others cannot keep them out.
        let total = account.total.limit;
        let limit = if held <= SMALL_HOLDER_BYTES {
            total
        } else {
            total - total / 10
        };
        if let Err(held) = account.total.add(bytes, limit) {
            self.address.held.sub(bytes);
            if let Some(client) = self.client.get() {
                client.held.sub(bytes);
            }
            return Err(account.refuse("all clients", TOTAL_OPTION, held, limit));
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Returns bytes that were charged.
    pub fn sub(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.give_back(bytes);
    }

    fn give_back(&self, bytes: usize) {
        self.address.held.sub(bytes);
        if let Some(client) = self.client.get() {
            client.held.sub(bytes);
        }
        self.address.account.total.sub(bytes);
    }

    /// Charges the bytes to the share of a client too, whatever its addresses are.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the client's share has no room.
    pub fn of_client(&self, name: &str) -> Result<(), Refused> {
        if self.client.get().is_some() {
            return Ok(());
        }
        let client = self.address.account.share(Holder::Client(name.to_owned()));
        client.add(self.bytes.load(Ordering::Relaxed))?;
        // One task has the request, so nothing else sets it.
        let _ = self.client.set(client);
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.give_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SHARE: usize = 4 * SMALL_HOLDER_BYTES;
    const TOTAL: usize = 10 * SMALL_HOLDER_BYTES;

    fn address(account: &Arc<Account>, last: u8) -> Arc<Share> {
        account.of_address(IpAddr::from([127, 0, 0, last]))
    }

    #[test]
    fn share_is_refused_beyond_its_limit_and_given_back() {
        let account = Account::new(TOTAL, SHARE);
        let share = address(&account, 1);
        let charge = Charge::new(&share, SHARE - 1).unwrap();
        let refused = charge.add(2).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "requests and unread responses of this address would take {} bytes of memory, maximum {SHARE} \
                 (`limits.memory_share_bytes`), retry later",
                SHARE + 1
            )
        );
        charge.add(1).unwrap();
        assert_eq!((account.held(), account.refused()), (SHARE, 1));
        assert!(Charge::new(&address(&account, 2), SHARE).is_ok());
        drop((charge, share));
        assert_eq!((account.held(), account.largest_share()), (0, 0));
        assert!(account.shares().is_empty());
    }

    #[test]
    fn last_tenth_is_for_those_who_hold_little() {
        let account = Account::new(TOTAL, SHARE);
        let large: Vec<_> = (1..=2)
            .map(|last| Charge::new(&address(&account, last), SHARE).unwrap())
            .collect();
        let third = address(&account, 3);
        let refused = Charge::new(&third, 2 * SMALL_HOLDER_BYTES).unwrap_err();
        assert_eq!(refused.limit, TOTAL - TOTAL / 10);
        let small = Charge::new(&third, SMALL_HOLDER_BYTES).unwrap();
        drop((large, small));
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn client_has_one_share_from_all_addresses() {
        let account = Account::new(TOTAL, SHARE);
        let one = Charge::new(&address(&account, 1), SHARE / 2).unwrap();
        let other = Charge::new(&address(&account, 2), SHARE / 2).unwrap();
        one.of_client("ci").unwrap();
        other.of_client("ci").unwrap();
        let refused = one.add(1).unwrap_err();
        assert_eq!(refused.whose, "this client");
        assert_eq!(account.held(), SHARE);
        other.sub(1);
        one.add(1).unwrap();
        drop((one, other));
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn hosts_of_one_ipv6_network_have_one_share() {
        let account = Account::new(TOTAL, SHARE);
        let of = |text: &str| account.of_address(text.parse().unwrap());
        let one = of("2001:db8::1");
        assert!(Arc::ptr_eq(&one, &of("2001:db8::2:3")));
        assert!(!Arc::ptr_eq(&one, &of("2001:db8:0:1::1")));
        let four = of("192.0.2.1");
        assert!(Arc::ptr_eq(&four, &of("::ffff:192.0.2.1")));
    }

    #[test]
    fn proxy_has_no_share() {
        let account = Account::new(TOTAL, SHARE);
        let charge =
            Charge::new(&account.of_proxy(IpAddr::from([192, 0, 2, 1])), 2 * SHARE).unwrap();
        assert_eq!(account.held(), 2 * SHARE);
        drop(charge);
    }
}
