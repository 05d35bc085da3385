package io.github.jeton;

import java.util.Objects;

/**
 * Something failed. {@link #code()} says why, in a form that does not change. The message is for people. It has no part of a token,
 * a key or a claim.
 */
public class JetonException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final ErrorCode code;

    /** Creates an exception. */
    public JetonException(ErrorCode code, String message) {
        super(Objects.requireNonNull(message));
        this.code = Objects.requireNonNull(code);
    }

    /** Creates an exception with a cause. */
    public JetonException(ErrorCode code, String message, Throwable cause) {
        this(code, message);
        initCause(cause);
    }

    /** Returns why it failed. */
    public ErrorCode code() {
        return code;
    }

    @Override
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
