package io.github.jeton;

/** A token is rejected: its signature is invalid, it has expired, it is for another audience, or it is malformed. */
public final class TokenRejectedException extends JetonException {
    private static final long serialVersionUID = 1;

    /** Creates an exception. */
    public TokenRejectedException(ErrorCode code, String message) {
        super(code, message);
    }
}
