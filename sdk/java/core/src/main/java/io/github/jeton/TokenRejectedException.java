package io.github.jeton;

/** A token is rejected: it is not authentic, has expired, is for someone else, or is malformed. */
public final class TokenRejectedException extends JetonException {
    private static final long serialVersionUID = 1;

    /** Creates an exception. */
    public TokenRejectedException(ErrorCode code, String message) {
        super(code, message);
    }
}
