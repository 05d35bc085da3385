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
        // Protocol assignments and documentation.
        [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => true,
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
        // Documentation and Teredo.
        [0x2001, 0x0db8 | 0, ..] => false,
        // Only 2000::/3 is assigned for global unicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_special_addresses_are_not_public() {
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1",
            "203.0.113.7",
            "224.0.0.1",
            "255.255.255.255",
            "[::]",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::7f00:1]",
            "[2002:0a00:0001::1]",
            "[2001:db8::1]",
            "[fc00::1]",
            "[fd12::1]",
            "[fe80::1]",
            "[ff02::1]",
        ] {
            assert!(!may_be_public(private), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.0.1",
            "223.255.255.255",
            "[2606:4700::1111]",
            "[::ffff:1.1.1.1]",
            "[64:ff9b::101:101]",
            "id.example",
        ] {
            assert!(may_be_public(public), "{public}");
        }
    }
}
