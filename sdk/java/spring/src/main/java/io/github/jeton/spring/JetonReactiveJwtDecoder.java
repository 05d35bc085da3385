package io.github.jeton.spring;

import io.github.jeton.Algorithm;
import io.github.jeton.TokenVerifier;
import java.util.Set;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Verifies the tokens of a reactive resource server with jeton, as {@link JetonJwtDecoder}. A verification may wait for
 * keys, so it runs in {@code Schedulers.boundedElastic()}.
 */
public final class JetonReactiveJwtDecoder implements ReactiveJwtDecoder {
    private final JetonJwtDecoder decoder;

    private JetonReactiveJwtDecoder(JetonJwtDecoder decoder) {
        this.decoder = decoder;
    }

    /** Creates a decoder for signed or encrypted JWTs from a verifier. */
    public static JetonReactiveJwtDecoder of(TokenVerifier verifier) {
        return of(verifier, Set.of());
    }

    /** As {@link #of(TokenVerifier)}, and rejects tokens of other algorithms, unless the set is empty. */
    static JetonReactiveJwtDecoder of(TokenVerifier verifier, Set<Algorithm> algorithms) {
        return new JetonReactiveJwtDecoder(JetonJwtDecoder.of(verifier, algorithms));
    }

    /** Verifies a token. The errors are those of {@link JetonJwtDecoder#decode}. */
    @Override
    public Mono<Jwt> decode(String token) {
        return Mono.fromCallable(() -> decoder.decode(token)).subscribeOn(Schedulers.boundedElastic());
    }
}
