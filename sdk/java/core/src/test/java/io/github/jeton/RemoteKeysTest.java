package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.github.jeton.testing.TestIssuer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RemoteKeysTest {
    private static String token(Key key) {
        return Issuer.builder(key)
                .issuer("https://id.example")
                .audience("api")
                .lifetime(Duration.ofMinutes(1))
                .build()
                .issueJson("{}");
    }

    private static Verifier verifier(RemoteKeySet keys) {
        return Verifier.builder(keys).issuer("https://id.example").audience("api").build();
    }

    private static Key key(String id) {
        return Key.generator(Algorithm.ES256).keyId(id).generate();
    }

    /** Three fetches in one verification: the document, the set, and the set again for a new key. */
    @Test
    void one_verification_fetches_what_it_needs() {
        Key old = key("old");
        Key fresh = key("fresh");
        List<String> requested = new ArrayList<>();
        RemoteKeySet keys = RemoteKeySet.discover("https://id.example")
                .fetcher(request -> {
                    requested.add(request.uri().getPath() + (request.noCache() ? " no-cache" : ""));
                    String body = "{\"issuer\":\"https://id.example\",\"jwks_uri\":\"https://id.example/jwks\"}";
                    if (request.uri().getPath().equals("/jwks")) {
                        body = KeySet.of(request.noCache() ? fresh : old).toJwks();
                    }
                    return new RemoteKeySet.Response(200, Map.of(), body.getBytes(StandardCharsets.UTF_8));
                })
                .build();
        Verifier verifier = verifier(keys);
        assertEquals("fresh", verifier.verify(token(fresh)).keyId().orElseThrow());
        assertEquals(List.of("/.well-known/openid-configuration", "/jwks", "/jwks no-cache"), requested);
        // An invented key id causes no request now.
        var rejected = assertThrows(TokenRejectedException.class, () -> verifier.verify(token(key("invented"))));
        assertEquals(ErrorCode.TOKEN_UNKNOWN_KEY, rejected.code());
        assertEquals(3, requested.size());
    }

    @Test
    void failure_has_its_code() {
        RemoteKeySet.Fetcher none = request -> {
            throw new java.io.IOException("no network");
        };
        RemoteKeySet.Fetcher broken = request -> {
            throw new IllegalStateException();
        };
        RemoteKeySet.Fetcher status = request -> new RemoteKeySet.Response(503, Map.of(), new byte[0]);
        RemoteKeySet.Fetcher empty =
                request -> new RemoteKeySet.Response(200, Map.of(), "{\"keys\":[]}".getBytes(StandardCharsets.UTF_8));
        var cases = Map.of(
                none, ErrorCode.KEY_SET_UNREACHABLE,
                broken, ErrorCode.KEY_SET_UNREACHABLE,
                status, ErrorCode.KEY_SET_UNREACHABLE,
                empty, ErrorCode.KEY_SET_EMPTY);
        cases.forEach((fetcher, code) -> {
            AtomicInteger requests = new AtomicInteger();
            RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                    .fetcher(request -> {
                        requests.incrementAndGet();
                        return fetcher.fetch(request);
                    })
                    .build();
            Verifier verifier = verifier(keys);
            long begun = System.nanoTime();
            for (int call = 0; call < 3; call++) {
                var failure = assertThrows(JetonException.class, () -> verifier.verify(token(key("a"))));
                assertEquals(code, failure.code());
            }
            long pauses = (System.nanoTime() - begun) / 1_000_000_000L;
            assertTrue(requests.get() <= 1 + pauses, "a failure is not repeated at once");
        });
        assertEquals(
                ErrorCode.KEY_SET_ADDRESS,
                assertThrows(JetonException.class, () -> RemoteKeySet.at("http://id.example/jwks").build()).code());
    }

    /** The HTTP client and server of the JDK. */
    @Test
    void jdk_client_fetches() throws Exception {
        Key key = key("a");
        AtomicInteger requests = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String base = "http://127.0.0.1:" + server.getAddress().getPort();
        byte[] set = KeySet.of(key).toJwks().getBytes(StandardCharsets.UTF_8);
        server.createContext("/", exchange -> {
            requests.incrementAndGet();
            String path = exchange.getRequestURI().getPath();
            byte[] body = path.equals("/large") ? new byte[20 << 20] : set;
            if (path.equals("/redirect")) {
                exchange.getResponseHeaders().set("Location", base + "/jwks");
                exchange.sendResponseHeaders(302, -1);
            } else {
                exchange.getResponseHeaders().set("Cache-Control", "max-age=300");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        server.start();
        try {
            Verifier verifier = verifier(RemoteKeySet.at(base + "/jwks").build());
            assertEquals("a", verifier.verify(token(key)).keyId().orElseThrow());
            // On a busy machine, a request may be sent again because it took too long.
            int fetched = requests.get();
            for (int call = 0; call < 3; call++) {
                assertEquals("a", verifier.verify(token(key)).keyId().orElseThrow());
            }
            assertEquals(fetched, requests.get());
            for (String path : List.of("/large", "/redirect")) {
                Verifier other = verifier(RemoteKeySet.at(base + path).build());
                var failure = assertThrows(JetonException.class, () -> other.verify(token(key)));
                assertTrue(
                        List.of(ErrorCode.KEY_SET_UNREACHABLE, ErrorCode.KEY_TOO_LARGE).contains(failure.code()),
                        path + failure);
            }
        } finally {
            server.stop(0);
        }
        Verifier gone = verifier(RemoteKeySet.at(base + "/jwks").build());
        var failure = assertThrows(JetonException.class, () -> gone.verify(token(key)));
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
    }

    /** Keys that are no longer fresh are used while they are fetched again in the background. */
    @Test
    void keys_are_fetched_again_in_the_background() throws Exception {
        Key key = key("a");
        AtomicInteger requests = new AtomicInteger();
        RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                .freshFor(Duration.ofSeconds(1))
                .cooldown(Duration.ofSeconds(1))
                .fetcher(request -> {
                    requests.incrementAndGet();
                    byte[] set = KeySet.of(key).toJwks().getBytes(StandardCharsets.UTF_8);
                    return new RemoteKeySet.Response(200, Map.of(), set);
                })
                .build();
        Verifier verifier = verifier(keys);
        for (int call = 0; call < 1200 && requests.get() < 2; call++) {
            assertEquals("a", verifier.verify(token(key)).keyId().orElseThrow());
            Thread.sleep(50);
        }
        assertEquals(2, requests.get());
    }

    @Test
    void test_issuer_needs_no_network() {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        RemoteKeySet keys = issuer.remoteKeys();
        keys.warmUp();
        assertEquals("u", verifier(keys).verify(issuer.issue("{\"sub\":\"u\"}")).subject().orElseThrow());
    }
}
