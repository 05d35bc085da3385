package io.github.jeton;

import io.github.jeton.internal.Calls;
import java.util.Map;
import java.util.Optional;

/**
 * What a compact token says, without verification, for routing and logs.
 *
 * <p>Insecure: anyone can write such a token, so nothing in it is true. {@link MultiIssuerVerifier} selects keys by the
 * issuer of a token.
 */
public final class UnverifiedToken {
    private final Map<String, Object> members;

    private UnverifiedToken(Map<String, Object> members) {
        this.members = members;
    }

    /**
     * Reads a token. Header and claims are within the default limits of a verifier: 2 MiB, and a depth of 32.
     *
     * @throws TokenRejectedException if the token is too large or malformed, if its header has a private key, or if a
     *     number is too long or its exponent too large
     */
    public static UnverifiedToken read(String token) {
        return new UnverifiedToken(Calls.unverified(token));
    }

    /** Reads a token whose numbers do not matter: an attacker can write numbers that Java cannot read. */
    static UnverifiedToken withoutNumbers(String token) {
        return new UnverifiedToken(Calls.unverifiedWithoutNumbers(token));
    }

    /** Returns the protected header, unless the token is a PASETO. */
    public Optional<Map<String, Object>> header() {
        return object("header");
    }

    /** Returns the claims with values as in {@link VerifiedToken#toMap}, unless they are encrypted. */
    public Optional<Map<String, Object>> claims() {
        return object("claims");
    }

    /** Returns the issuer ({@code iss}). */
    public Optional<String> issuer() {
        return claims().map(claims -> claims.get("iss") instanceof String issuer ? issuer : null);
    }

    /** Returns the footer of a PASETO. */
    public Optional<String> footer() {
        return Optional.ofNullable((String) members.get("footer"));
    }

    @SuppressWarnings("unchecked") // the native library returns objects
    private Optional<Map<String, Object>> object(String name) {
        return Optional.ofNullable((Map<String, Object>) members.get(name));
    }

    /** Returns only the class name, because claims must not appear in logs by mistake. */
    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
