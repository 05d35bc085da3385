package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class AddressTest {
    @Test
    void private_addresses_are_known() throws Exception {
        for (String address : new String[] {
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
            "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1",
            "64:ff9b::a00:1", "2002:a00:1::", "::ffff:10.0.0.1", "::10.0.0.1", "ff02::1"
        }) {
            assertEquals(false, HttpFetcher.isPublic(InetAddress.getByName(address)), address);
        }
        for (String address : new String[] {"1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1"}) {
            assertEquals(true, HttpFetcher.isPublic(InetAddress.getByName(address)), address);
        }
    }
}
