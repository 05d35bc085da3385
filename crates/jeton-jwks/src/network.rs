//! Which IP addresses are public. A document of another server may name an address, and must not lead a
//! request into the network of the caller.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether a host may be public. A host name may be: the connection decides after the name is resolved.
pub(crate) fn may_be_public(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
    literal.map_or(true, is_public)
}

/// Returns whether an address is globally reachable (the special-purpose registries of RFC 6890).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        // This network, private networks, loopback, shared addresses, link-local, benchmarks.
        [0 | 10 | 127, ..] | [192, 168, ..] | [169, 254, ..] | [198, 18 | 19, ..] => true,
        [100, second, ..] => second & 0xc0 == 64,
        [172, second, ..] => second & 0xf0 == 16,
        // Protocol assignments, documentation and relays of 6to4.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Multicast, reserved, broadcast.
        [first, ..] => first >= 224,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Addresses with an embedded IPv4 address lead to that address.
    let [.., high, low] = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // IPv4-mapped, and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => embedded(high, low),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => embedded(high, low),
        // Protocol assignments, among them Teredo, and documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0x0db8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Only 2000::/3 is assigned for global unicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list that the fetchers of all languages share.
    const ADDRESSES: &str = include_str!("../../../sdk/testdata/addresses.txt");

    #[test]
    fn host_special_addresses_are_not_public() {
        let rows = ADDRESSES.lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for row in rows {
            let (kind, address) = row.split_once(' ').expect("two words");
            let host = if address.contains(':') {
                format!("[{address}]")
            } else {
                address.to_owned()
            };
            assert_eq!(may_be_public(&host), kind == "public", "{row}");
            count += 1;
        }
        assert!(count > 50 && may_be_public("id.example"));
    }
}
