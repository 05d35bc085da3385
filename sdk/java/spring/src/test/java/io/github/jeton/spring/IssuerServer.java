package io.github.jeton.spring;

import com.sun.net.httpserver.HttpServer;
import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySet;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** An HTTP server with the discovery document and the keys of an issuer. */
final class IssuerServer implements AutoCloseable {
    private final HttpServer server;
    private Key key;

    /** The published key set. */
    volatile String published;

    IssuerServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String body = exchange.getRequestURI().getPath().equals("/jwks")
                    ? published
                    : "{\"issuer\":\"" + name() + "\",\"jwks_uri\":\"" + name() + "/jwks\"}";
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        rotate("first");
    }

    /** Publishes only a new key, which issues from now on. */
    void rotate(String keyId) {
        key = Key.generator(Algorithm.ES256).keyId(keyId).generate();
        published = KeySet.of(key.publicKey()).toJwks();
    }

    /** Returns the value of {@code iss}. */
    String name() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    Key key() {
        return key;
    }

    String token(String scope) {
        return Issuer.builder(key)
                .issuer(name())
                .audience("api")
                .lifetime(Duration.ofMinutes(15))
                .build()
                .issue(Map.of("sub", "u", "scope", scope));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
