package io.github.jeton.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import io.github.jeton.testing.TestIssuer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtException;

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
    void rejections_are_those_of_spring() {
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
    }
}
