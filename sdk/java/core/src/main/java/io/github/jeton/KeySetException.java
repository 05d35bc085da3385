package io.github.jeton;

/** The published keys of an issuer cannot be fetched or used. The token may be valid: respond with the status 503. */
public final class KeySetException extends JetonException {
    private static final long serialVersionUID = 1;

    /** Creates an exception. The cause is the failure of the request, or null. */
    public KeySetException(ErrorCode code, String message, Throwable cause) {
        super(code, message, cause);
    }
}
