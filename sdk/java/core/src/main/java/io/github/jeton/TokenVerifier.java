package io.github.jeton;

import java.lang.reflect.Type;

/** Verifies tokens of one issuer ({@link Verifier}) or of several ({@link MultiIssuerVerifier}). */
public sealed interface TokenVerifier permits Verifier, MultiIssuerVerifier {
    /**
     * Verifies a token.
     *
     * @throws TokenRejectedException if the token is rejected
     * @throws KeySetException if the keys of a {@link RemoteKeySet} cannot be fetched or used
     */
    VerifiedToken verify(String token);

    /**
     * Verifies a token and converts its claims to a type.
     *
     * @throws TokenRejectedException if the token is rejected, or its claims do not match the type
     * @throws KeySetException if the keys of a {@link RemoteKeySet} cannot be fetched or used
     * @throws JetonException with {@code INVALID_OPTION} if Jackson cannot map the type
     */
    <T> Verified<T> verify(String token, Class<T> type);

    /**
     * As {@link #verify(String, Class)}, for a type with parameters. The caller must choose the matching {@code T}.
     *
     * @throws TokenRejectedException if the token is rejected, or its claims do not match the type
     * @throws KeySetException if the keys of a {@link RemoteKeySet} cannot be fetched or used
     * @throws JetonException with {@code INVALID_OPTION} if Jackson cannot map the type
     */
    <T> Verified<T> verify(String token, Type type);

    /**
     * Verifies a token, and returns a rejection instead of throwing it.
     *
     * @throws KeySetException if the keys of a {@link RemoteKeySet} cannot be fetched or used
     * @throws JetonException for a mistake in the call
     */
    <T> Verification<T> tryVerify(String token, Class<T> type);
}
