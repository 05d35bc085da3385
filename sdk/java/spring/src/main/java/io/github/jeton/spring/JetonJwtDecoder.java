package io.github.jeton.spring;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.VerifiedToken;
import io.github.jeton.Verifier;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;

/**
 * Verifies the tokens of a resource server with jeton. It replaces Spring's own decoder:
 *
 * <pre>{@code
 * @Bean
 * JwtDecoder decoder() {
 *     RemoteKeySet keys = RemoteKeySet.discover("https://id.example").build();
 *     return JetonJwtDecoder.of(Verifier.builder(keys).issuer("https://id.example").audience("api").build());
 * }
 * }</pre>
 *
 * <p>The verifier has the whole policy. As in Spring, times are {@code Instant} claims, and {@code aud} is a list.
 */
public final class JetonJwtDecoder implements JwtDecoder {
    private final Verifier verifier;

    private JetonJwtDecoder(Verifier verifier) {
        this.verifier = verifier;
    }

    /** Creates a decoder for signed or encrypted JWTs from a verifier. */
    public static JetonJwtDecoder of(Verifier verifier) {
        return new JetonJwtDecoder(Objects.requireNonNull(verifier, "verifier"));
    }

    /**
     * Verifies a token.
     *
     * @throws BadJwtException if the token is rejected, or if Spring does not accept its claims: the server responds with
     *     401
     * @throws JwtException if the keys cannot be fetched or used, with a {@link io.github.jeton.KeySetException} as
     *     cause; also after a mistake of the program, such as a closed verifier
     */
    @Override
    public Jwt decode(String token) {
        VerifiedToken verified;
        try {
            verified = verifier.verify(token);
        } catch (TokenRejectedException rejected) {
            throw new BadJwtException(text(rejected), rejected);
        } catch (JetonException failed) {
            throw failed.code() == ErrorCode.ARGUMENT_NULL
                    ? new BadJwtException(text(failed), failed)
                    : new JwtException(text(failed), failed);
        }
        Map<String, Object> claims = new LinkedHashMap<>(verified.toMap());
        claims.values().removeIf(Objects::isNull);
        verified.expiresAt().ifPresent(time -> claims.put("exp", time));
        verified.notBefore().ifPresent(time -> claims.put("nbf", time));
        verified.issuedAt().ifPresent(time -> claims.put("iat", time));
        if (claims.containsKey("aud")) {
            claims.put("aud", verified.audiences());
        }
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put("alg", verified.algorithm().standardName());
        verified.keyId().ifPresent(keyId -> headers.put("kid", keyId));
        verified.type().ifPresent(type -> headers.put("typ", type));
        try {
            return new Jwt(
                    token,
                    verified.issuedAt().orElse(null),
                    verified.expiresAt().orElse(null),
                    headers,
                    claims);
        } catch (IllegalArgumentException refused) {
            // Spring requires a claim, and `exp` after `iat`.
            throw new BadJwtException(ErrorCode.TOKEN_INVALID_CLAIMS + ": " + refused.getMessage(), refused);
        }
    }

    private static String text(JetonException failure) {
        return failure.code() + ": " + failure.getMessage();
    }
}
