package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.testing.TestIssuer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program ends although its fetch is still running. */
@Timeout(240)
class ExitTest {
    @Test
    void program_ends_while_a_server_is_silent() throws Exception {
        String token = TestIssuer.create("https://id.example", "api").issue("{}");
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String address = "http://127.0.0.1:" + silent.getLocalPort() + "/keys";
            for (String client : new String[] {"jdk", "hanging"}) {
                String output = ChildJvm.run(List.of(), FetchApp.class.getName(), address, token, client);
                assertTrue(output.contains("KEY_SET_UNREACHABLE") && output.endsWith("status 0"), output);
            }
        }
    }
}
