package io.github.jeton.spring;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.security.oauth2.jwt.Jwt;

/** Converts a token to the type of Spring: times are {@code Instant} claims, {@code aud} is a list, and null is absent. */
final class SpringJwt {
    private SpringJwt() {}

    /**
     * Converts a token.
     *
     * @throws IllegalArgumentException if Spring does not accept the claims, or if the token is a PASETO
     */
    static Jwt of(String token, Map<String, Object> headers, Map<String, Object> members) {
        if (headers.isEmpty()) {
            throw new IllegalArgumentException("a PASETO has no header, and Spring takes JWTs only");
        }
        Map<String, Object> claims = new LinkedHashMap<>(members);
        claims.values().removeIf(Objects::isNull);
        for (String name : List.of("exp", "nbf", "iat")) {
            claims.computeIfPresent(name, (same, seconds) -> Instant.ofEpochSecond(whole((Number) seconds)));
        }
        claims.computeIfPresent("aud", (same, audience) -> audience instanceof List ? audience : List.of(audience));
        return new Jwt(token, (Instant) claims.get("iat"), (Instant) claims.get("exp"), headers, claims);
    }

    /** Returns whole seconds: as {@code VerifiedToken}, without the fraction. */
    private static long whole(Number seconds) {
        return seconds instanceof BigDecimal exact ? exact.setScale(0, RoundingMode.FLOOR).longValue() : seconds.longValue();
    }
}
