package io.github.jeton;

import java.util.Objects;

/**
 * A failed call. {@link #code()} is a stable reason. The message is for people, and never contains a part of a token,
 * key or claim.
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

    /** Returns the stable reason. */
    public ErrorCode code() {
        return code;
    }

    @Override
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
