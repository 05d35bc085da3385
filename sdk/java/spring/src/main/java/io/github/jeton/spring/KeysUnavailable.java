package io.github.jeton.spring;

import io.github.jeton.KeySetException;
import org.springframework.security.authentication.AuthenticationServiceException;

/** Recognizes failed authentications for which the keys could not be fetched or used. */
final class KeysUnavailable {
    private KeysUnavailable() {}

    static boolean isCauseOf(Throwable failed) {
        return failed instanceof AuthenticationServiceException
                && failed.getCause() != null
                && failed.getCause().getCause() instanceof KeySetException;
    }
}
