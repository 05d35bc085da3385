package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySetException;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.Verifier;
import io.github.jeton.testing.TestIssuer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

class JetonJwtDecoderTest {
    private final TestIssuer issuer = TestIssuer.create("https://id.example", "api");

    @Test
    void claims_have_the_types_of_spring() {
        var decoder = JetonJwtDecoder.of(issuer.verifier().build());
        Jwt token = decoder.decode(issuer.issue("{\"sub\":\"u\",\"scope\":\"a b\",\"n\":7,\"x\":{\"y\":[1,null]},\"z\":null}"));
        assertEquals("u", token.getSubject());
        assertEquals("https://id.example", token.getIssuer().toString());
        assertEquals(List.of("api"), token.getAudience());
        assertEquals("a b", token.getClaimAsString("scope"));
        assertEquals(7L, token.<Long>getClaim("n"));
        assertEquals(java.util.Arrays.asList(1L, null), ((Map<?, ?>) token.getClaim("x")).get("y"));
        assertFalse(token.hasClaim("z"));
        assertEquals(Duration.ofMinutes(15), Duration.between(token.getIssuedAt(), token.getExpiresAt()));
        assertEquals(Map.of("alg", "ES256", "kid", "test", "typ", "JWT"), token.getHeaders());
    }

    @Test
    void rejections_are_exceptions_of_spring() {
        var decoder = JetonJwtDecoder.of(issuer.verifier().build());
        String token = issuer.issue("{}");
        assertThrows(BadJwtException.class, () -> decoder.decode(token + "x"));
        assertThrows(BadJwtException.class, () -> decoder.decode(null));
        issuer.clock().advance(Duration.ofHours(1));
        var expired = assertThrows(BadJwtException.class, () -> decoder.decode(token));
        assertEquals("TOKEN_EXPIRED", expired.getMessage().substring(0, 13));
        RemoteKeySet none = RemoteKeySet.at("https://id.example/jwks")
                .fetcher(request -> {
                    throw new java.io.IOException("no network");
                })
                .build();
        var unreachable = JetonJwtDecoder.of(
                Verifier.builder(none).issuer("https://id.example").audience("api").build());
        var failure = assertThrows(JwtException.class, () -> unreachable.decode(token));
        assertFalse(failure instanceof BadJwtException);
        assertInstanceOf(KeySetException.class, failure.getCause());
        Verifier closed = issuer.verifier().build();
        closed.close();
        var mistake = assertThrows(JwtException.class, () -> JetonJwtDecoder.of(closed).decode(token));
        assertFalse(mistake instanceof BadJwtException || mistake.getCause() instanceof KeySetException);
    }

    /** Spring's class refuses such claims. It must not become an error of the server. */
    @Test
    void claims_that_spring_refuses_are_a_rejection() {
        Key key = Key.generate(Algorithm.HS256);
        var decoder = JetonJwtDecoder.of(Verifier.builder(key)
                .anyIssuer()
                .anyAudience()
                .leeway(Duration.ofMinutes(1))
                .build());
        long now = Instant.now().getEpochSecond();
        Issuer other = Issuer.builder(key).build();
        for (String claims : List.of(
                "{\"exp\":" + (now - 10) + ",\"iat\":" + now + "}",
                "{\"exp\":" + (now - 5) + ",\"iat\":" + (now - 5) + "}")) {
            var rejected = assertThrows(BadJwtException.class, () -> decoder.decode(other.issueJson(claims)));
            assertEquals("TOKEN_INVALID_CLAIMS", rejected.getMessage().substring(0, 20));
        }
    }

    /** Spring Boot 4 has Jackson 3. */
    @Test
    void claims_are_objects_and_maps_with_jackson_3() {
        record Visit(String page, int number) {}
        Key key = Key.generate(Algorithm.HS256);
        Issuer own = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).build();
        Verifier verifier = Verifier.builder(key).anyIssuer().anyAudience().build();
        String token = own.issue(Map.of("page", "/", "number", 7));
        assertEquals(new Visit("/", 7), verifier.verify(token, Visit.class).claims());
        assertEquals(new Visit("/", 8), verifier.verify(own.issue(new Visit("/", 8)), Visit.class).claims());
        assertThrows(
                TokenRejectedException.class,
                () -> verifier.verify(own.issue(Map.of("page", 1, "number", 7)), Visit.class));
    }

    /** Checks the statements of the README about Spring's own decoder. */
    @Test
    void decoder_of_spring_has_a_leeway_and_does_not_check_iat() {
        byte[] secret = new byte[32];
        JwtDecoder ofSpring = NimbusJwtDecoder.withSecretKey(new SecretKeySpec(secret, "HmacSHA256")).build();
        Key key = Key.ofSecret(secret, Algorithm.HS256);
        JwtDecoder ofJeton = JetonJwtDecoder.of(Verifier.builder(key).anyIssuer().anyAudience().build());
        long now = Instant.now().getEpochSecond();
        Issuer other = Issuer.builder(key).build();
        for (String claims : List.of(
                "{\"exp\":" + (now - 30) + ",\"iat\":" + (now - 90) + "}",
                "{\"exp\":" + (now + 7200) + ",\"nbf\":" + (now + 30) + "}",
                "{\"exp\":" + (now + 7200) + ",\"iat\":" + (now + 3600) + "}")) {
            String token = other.issueJson(claims);
            ofSpring.decode(token);
            assertThrows(BadJwtException.class, () -> ofJeton.decode(token));
        }
        String access = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).type("at+jwt").build().issueJson("{}");
        assertThrows(BadJwtException.class, () -> ofSpring.decode(access));
        assertThrows(BadJwtException.class, () -> ofJeton.decode(access));
    }
}
