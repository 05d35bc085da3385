package io.github.jeton.spring;

import io.github.jeton.Algorithm;
import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.TokenVerifier;
import io.github.jeton.VerifiedToken;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
    private final TokenVerifier verifier;
    private final Set<Algorithm> algorithms;

    private JetonJwtDecoder(TokenVerifier verifier, Set<Algorithm> algorithms) {
        this.verifier = Objects.requireNonNull(verifier, "verifier");
        this.algorithms = algorithms;
    }

    /** Creates a decoder for signed or encrypted JWTs from a verifier. */
    public static JetonJwtDecoder of(TokenVerifier verifier) {
        return new JetonJwtDecoder(verifier, Set.of());
    }

    /** As {@link #of(TokenVerifier)}, and rejects tokens of other algorithms, unless the set is empty. */
    static JetonJwtDecoder of(TokenVerifier verifier, Set<Algorithm> algorithms) {
        return new JetonJwtDecoder(verifier, algorithms);
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
        Map<String, Object> header;
        try {
            verified = verifier.verify(token);
            header = verified.header();
        } catch (TokenRejectedException rejected) {
            throw new BadJwtException(text(rejected), rejected);
        } catch (JetonException failed) {
            throw failed.code() == ErrorCode.ARGUMENT_NULL
                    ? new BadJwtException(text(failed), failed)
                    : new JwtException(text(failed), failed);
        }
        if (!algorithms.isEmpty() && !algorithms.contains(verified.algorithm())) {
            throw new BadJwtException(
                    ErrorCode.TOKEN_ALGORITHM_MISMATCH + ": `" + JwtProperties.PREFIX + ".jws-algorithms` does not have "
                            + verified.algorithm().standardName());
        }
        try {
            return SpringJwt.of(token, header, verified.toMap());
        } catch (IllegalArgumentException refused) {
            // Spring requires a claim, and `exp` after `iat`.
            throw new BadJwtException(ErrorCode.TOKEN_INVALID_CLAIMS + ": " + refused.getMessage(), refused);
        }
    }

    static String text(JetonException failure) {
        return failure.code() + ": " + failure.getMessage();
    }
}
