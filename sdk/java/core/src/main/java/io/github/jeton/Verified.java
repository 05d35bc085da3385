package io.github.jeton;

import io.github.jeton.internal.VerifiedReply;

/**
 * A verified token with its claims as an object.
 *
 * @param <T> the type of the claims
 */
public final class Verified<T> extends VerifiedToken implements Verification<T> {
    private final T claims;

    Verified(VerifiedReply reply, Verifier verifier, String token, T claims) {
        super(reply, verifier, token);
        this.claims = claims;
    }

    /** Returns the claims. */
    public T claims() {
        return claims;
    }
}
