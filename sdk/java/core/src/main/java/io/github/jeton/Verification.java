package io.github.jeton;

import io.github.jeton.internal.Text;

/**
 * The result of a verification, for programs that expect rejections: a {@link Verified} or a {@link Rejected} token.
 *
 * @param <T> the type of the claims
 */
public sealed interface Verification<T> permits Verified, Verification.Rejected {
    /**
     * A rejected token.
     *
     * @param code the reason
     * @param message the reason, for people
     * @param <T> the type of the claims
     */
    record Rejected<T>(ErrorCode code, String message) implements Verification<T> {
        /** Creates a rejection. */
        public Rejected {
            Text.required(code, "code");
            Text.required(message, "message");
        }
    }
}
