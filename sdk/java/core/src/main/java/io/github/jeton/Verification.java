package io.github.jeton;

import io.github.jeton.internal.Text;

/**
 * What came of a token, for programs that expect rejections: a {@link Verified} token, or why it is {@link Rejected}.
 *
 * @param <T> the type of the claims
 */
public sealed interface Verification<T> permits Verified, Verification.Rejected {
    /**
     * A token that is not accepted.
     *
     * @param code why
     * @param message the same for people
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
