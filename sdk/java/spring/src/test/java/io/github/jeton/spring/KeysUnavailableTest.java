package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import io.github.jeton.testing.TestIssuer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;

/** A resource server with an issuer without usable keys. */
class KeysUnavailableTest {
    private static int status(Class<?> application, String issuer, String token) throws Exception {
        try (var context = SpringApplication.run(
                application,
                "--server.port=0",
                "--id=" + issuer,
                "--spring.main.banner-mode=off",
                "--logging.level.root=OFF")) {
            String port = context.getEnvironment().getProperty("local.server.port");
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/who"))
                    .header("Authorization", "Bearer " + token)
                    .build();
            return HttpClient.newHttpClient()
                    .send(request, HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    @Test
    void filter_of_the_page_responds_503_for_keys_only() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String issuer = "http://127.0.0.1:" + server.getAddress().getPort();
        TestIssuer test = TestIssuer.create(issuer, "api");
        byte[] document = ("{\"issuer\":\"" + issuer + "\",\"jwks_uri\":\"" + issuer + "/jwks\"}")
                .getBytes(StandardCharsets.UTF_8);
        String[] set = {"<html></html>"};
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestURI().getPath().equals("/jwks")
                    ? set[0].getBytes(StandardCharsets.UTF_8)
                    : document;
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            String token = test.issue("{\"sub\":\"u\"}");
            assertEquals(503, status(KeysUnavailableApp.class, issuer, token));
            // The error page of Spring Boot needs a token, too.
            assertEquals(401, status(JetonDecoderApp.class, issuer, token));
            set[0] = test.keys().toJwks();
            assertEquals(200, status(KeysUnavailableApp.class, issuer, token));
            assertEquals(401, status(KeysUnavailableApp.class, issuer, token + "x"));
        } finally {
            server.stop(0);
        }
    }
}
