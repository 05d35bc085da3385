package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddressTest {
    @Test
    void private_addresses_are_known() throws Exception {
        List<String> rows = Files.readAllLines(Path.of(System.getProperty("jeton.root"), "sdk/testdata/addresses.txt"));
        int count = 0;
        for (String row : rows) {
            if (row.startsWith("#")) {
                continue;
            }
            String[] words = row.split(" ");
            assertEquals(words[0].equals("public"), HttpFetcher.isPublic(InetAddress.getByName(words[1])), row);
            count++;
        }
        assertTrue(count > 50);
    }
}
