package io.github.jeton;

/**
 * The keys that an issuer publishes cannot be fetched, or there is none among them that can verify. The token may be valid: a server
 * responds with the status 503.
 */
public final class KeySetException extends JetonException {
    private static final long serialVersionUID = 1;

    /** Creates an exception. The cause is why there is no response, or null. */
    public KeySetException(ErrorCode code, String message, Throwable cause) {
        super(code, message, cause);
    }
}
