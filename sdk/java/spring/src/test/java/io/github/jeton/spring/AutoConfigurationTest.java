package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.MultiIssuerVerifier;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.TokenVerifier;
import io.github.jeton.Verifier;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;

/** Resource servers of Spring Boot that are configured with its properties. */
class AutoConfigurationTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String PREFIX = "spring.security.oauth2.resourceserver.jwt.";

    private IssuerServer issuer;

    @BeforeEach
    void start() throws Exception {
        issuer = new IssuerServer();
    }

    @AfterEach
    void stop() {
        issuer.close();
    }

    /** The kinds of server. */
    enum Kind {
        SERVLET(WebApplicationType.SERVLET, PropertiesApp.class),
        REACTIVE(WebApplicationType.REACTIVE, ReactivePropertiesApp.class);

        private final WebApplicationType type;
        private final Class<?> application;

        Kind(WebApplicationType type, Class<?> application) {
            this.type = type;
            this.application = application;
        }
    }

    /** Asks for the keys soon after a rotation. */
    @Configuration(proxyBeanMethods = false)
    static class Impatient {
        @Bean
        RemoteKeySetCustomizer impatient() {
            return keys -> keys.cooldown(Duration.ofSeconds(1));
        }
    }

    private ConfigurableApplicationContext run(WebApplicationType type, List<Class<?>> sources, String... properties) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0", "--id=" + issuer.name(), "--spring.main.banner-mode=off", "--logging.level.root=OFF"));
        for (String property : properties) {
            arguments.add("--" + PREFIX + property);
        }
        return new SpringApplicationBuilder(sources.toArray(new Class<?>[0]))
                .web(type)
                .run(arguments.toArray(new String[0]));
    }

    private ConfigurableApplicationContext run(Class<?> application, String... properties) {
        return run(WebApplicationType.SERVLET, List.of(application), properties);
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext server, String path, String token)
            throws Exception {
        String port = server.getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static int status(ConfigurableApplicationContext server, String path, String token) throws Exception {
        return get(server, path, token).statusCode();
    }

    /** Sends requests until the keys are fetched again. */
    private static void awaitVerified(ConfigurableApplicationContext server, String token) throws Exception {
        Instant end = Instant.now().plusSeconds(30);
        while (status(server, "/who", token) != 200) {
            assertTrue(Instant.now().isBefore(end), "the token is not verified in 30 seconds");
            Thread.sleep(50);
        }
    }

    @ParameterizedTest
    @EnumSource
    void statuses_are_right_before_and_after_a_rotation(Kind kind) throws Exception {
        String usable = issuer.published;
        issuer.published = "<html></html>";
        String old = issuer.token("read");
        try (var server = run(
                kind.type,
                List.of(kind.application, Impatient.class),
                "issuer-uri=" + issuer.name(), "audiences=api")) {
            assertEquals(503, status(server, "/who", old));
            assertEquals(401, status(server, "/who", null));

            issuer.published = usable;
            awaitVerified(server, old);
            assertEquals(403, status(server, "/admin", old));
            assertEquals(200, status(server, "/admin", issuer.token("admin")));
            assertEquals(401, status(server, "/who", old + "x"));

            issuer.rotate("second");
            String next = issuer.token("read");
            awaitVerified(server, next);
            assertEquals(403, status(server, "/admin", next));
            assertEquals(401, status(server, "/who", old));

            issuer.published = "<html></html>";
            assertEquals(200, status(server, "/who", next));
        }
    }

    @ParameterizedTest
    @EnumSource
    void decoder_is_the_decoder_of_jeton(Kind kind) {
        try (var server = run(
                kind.type, List.of(kind.application), "issuer-uri=" + issuer.name(), "audiences=api")) {
            if (kind == Kind.SERVLET) {
                assertInstanceOf(JetonJwtDecoder.class, server.getBean(JwtDecoder.class));
            } else {
                assertInstanceOf(JetonReactiveJwtDecoder.class, server.getBean(ReactiveJwtDecoder.class));
            }
        }
    }

    @Test
    void audience_and_issuer_are_checked() throws Exception {
        try (var server = run(
                PropertiesApp.class,
                "jwk-set-uri=" + issuer.name() + "/jwks", "issuer-uri=https://other.example", "audiences=api")) {
            assertEquals(401, status(server, "/who", issuer.token("read")));
        }
        try (var server = run(PropertiesApp.class, "issuer-uri=" + issuer.name(), "audiences=other,another")) {
            assertEquals(401, status(server, "/who", issuer.token("read")));
        }
        try (var server = run(PropertiesApp.class, "issuer-uri=" + issuer.name(), "audiences=other,api")) {
            assertEquals(200, status(server, "/who", issuer.token("read")));
        }
    }

    @Test
    void public_key_of_a_file_is_used(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("key.pem"), issuer.key().toPem());
        try (var server = run(
                PropertiesApp.class,
                "public-key-location=" + file.toUri(),
                "jws-algorithms=ES256", "issuer-uri=" + issuer.name(), "audiences=api")) {
            issuer.published = "<html></html>";
            assertEquals(200, status(server, "/who", issuer.token("read")));
        }
    }

    @Test
    void other_algorithms_than_those_of_the_property_are_rejected() throws Exception {
        String[] properties = {"issuer-uri=" + issuer.name(), "audiences=api", "jws-algorithms=RS256,ES384"};
        try (var server = run(PropertiesApp.class, properties)) {
            assertEquals(401, status(server, "/who", issuer.token("read")));
        }
        properties[2] = "jws-algorithms=RS256,ES256";
        try (var server = run(PropertiesApp.class, properties)) {
            assertEquals(200, status(server, "/who", issuer.token("read")));
        }
        properties[2] = "jws-algorithms=none";
        String why = failure(PropertiesApp.class, properties);
        assertEquals("`" + PREFIX + "jws-algorithms` has an unsupported algorithm: none", why);
    }

    private String failure(Class<?> application, String... properties) {
        Throwable failed = assertThrows(RuntimeException.class, () -> run(application, properties).close());
        while (failed.getCause() != null) {
            failed = failed.getCause();
        }
        return failed.getMessage();
    }

    @Test
    void server_without_issuer_or_audience_does_not_start() {
        String withoutAudience = failure(PropertiesApp.class, "issuer-uri=" + issuer.name());
        assertTrue(withoutAudience.startsWith("`" + PREFIX + "audiences` is not set: "), withoutAudience);
        String withoutIssuer = failure(PropertiesApp.class, "jwk-set-uri=" + issuer.name() + "/jwks", "audiences=api");
        assertTrue(withoutIssuer.startsWith("`" + PREFIX + "issuer-uri` is not set: "), withoutIssuer);
    }

    @Configuration(proxyBeanMethods = false)
    static class AnyAudience {
        @Bean
        VerifierCustomizer anyAudience() {
            return Verifier.Builder::anyAudience;
        }
    }

    @Test
    void customizer_changes_the_verifier() throws Exception {
        try (var server = run(
                WebApplicationType.SERVLET,
                List.of(PropertiesApp.class, AnyAudience.class),
                "issuer-uri=" + issuer.name())) {
            assertEquals(200, status(server, "/who", issuer.token("read")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SeveralIssuers {
        static IssuerServer[] servers;

        @Bean
        TokenVerifier verifier() {
            List<Verifier> all = new ArrayList<>();
            for (IssuerServer server : servers) {
                RemoteKeySet keys = RemoteKeySet.discover(server.name()).build();
                all.add(Verifier.builder(keys).issuer(server.name()).audience("api").build());
            }
            return MultiIssuerVerifier.of(all);
        }
    }

    @Test
    void verifier_of_the_program_replaces_the_properties() throws Exception {
        try (IssuerServer other = new IssuerServer(); IssuerServer unknown = new IssuerServer()) {
            SeveralIssuers.servers = new IssuerServer[] {issuer, other};
            try (var server = run(WebApplicationType.SERVLET, List.of(PropertiesApp.class, SeveralIssuers.class))) {
                assertEquals(200, status(server, "/who", issuer.token("read")));
                assertEquals(200, status(server, "/who", other.token("read")));
                assertEquals(401, status(server, "/who", unknown.token("read")));
                other.published = "<html></html>";
                assertEquals(200, status(server, "/who", issuer.token("read")));
            }
        }
    }

    @Test
    void issuer_of_the_program_is_an_encoder_and_issues_maps() throws Exception {
        IssuingApp.key = issuer.key();
        try (var server = run(
                IssuingApp.class, "issuer-uri=" + issuer.name(), "audiences=api")) {
            for (String path : List.of("/encoded", "/map")) {
                String token = get(server, path, issuer.token("read")).body();
                var response = get(server, "/who", token);
                assertEquals(200, response.statusCode());
                assertTrue(response.body().startsWith(path.substring(1) + " " + issuer.name() + " [api] "), response::body);
            }
        }
    }
}
