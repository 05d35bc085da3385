package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
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

    /** The filter of the auto-configuration also works with a decoder of the program. */
    @Test
    void server_responds_503_for_keys_only() throws Exception {
        try (IssuerServer issuer = new IssuerServer()) {
            String usable = issuer.published;
            String token = issuer.token("read");
            issuer.published = "<html></html>";
            assertEquals(503, status(JetonDecoderApp.class, issuer.name(), token));
            issuer.published = usable;
            assertEquals(200, status(JetonDecoderApp.class, issuer.name(), token));
            assertEquals(401, status(JetonDecoderApp.class, issuer.name(), token + "x"));
        }
    }
}
