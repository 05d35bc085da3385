package io.github.jeton;

import io.github.jeton.internal.Text;
import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Verifies JWTs of several issuers, each with its own keys and policy. It is immutable and thread-safe.
 *
 * <pre>{@code
 * MultiIssuerVerifier verifier = MultiIssuerVerifier.of(
 *     Verifier.builder(RemoteKeySet.discover("https://a.example").build())
 *         .issuer("https://a.example").audience("api").build(),
 *     Verifier.builder(RemoteKeySet.discover("https://b.example").build())
 *         .issuer("https://b.example").audience("api").build());
 * }</pre>
 *
 * <p>{@code iss} of the token selects the verifier before any key is fetched. So no issuer can issue tokens in the name
 * of another, and a token of an unknown issuer causes no request. It is rejected with {@code TOKEN_ISSUER_MISMATCH}, and
 * a token without {@code iss} with {@code TOKEN_INVALID_CLAIMS}. A token that is malformed is rejected for that reason
 * before its issuer is looked up. A token may have 2 MiB at most.
 */
public final class MultiIssuerVerifier implements TokenVerifier {
    private final Map<String, Verifier> verifiers;

    private MultiIssuerVerifier(Map<String, Verifier> verifiers) {
        this.verifiers = verifiers;
    }

    /**
     * Creates a verifier from the verifiers of the issuers.
     *
     * @throws JetonException with {@code ISSUER_NOT_CHOSEN} if a verifier accepts any issuer, with {@code ISSUER_TWICE}
     *     if two verifiers have the same issuer, and with {@code INVALID_OPTION} if a verifier decrypts or the list is empty
     */
    public static MultiIssuerVerifier of(Verifier... verifiers) {
        for (Verifier verifier : Text.required(verifiers, "verifiers")) {
            Text.required(verifier, "verifier");
        }
        return of(List.of(verifiers));
    }

    /** As {@link #of(Verifier...)}, with a list. */
    public static MultiIssuerVerifier of(List<Verifier> verifiers) {
        Map<String, Verifier> all = new HashMap<>();
        for (Verifier verifier : Text.required(verifiers, "verifiers")) {
            Text.required(verifier, "verifier").checkSelectable();
            for (String issuer : verifier.issuers()) {
                if (all.put(issuer, verifier) != null) {
                    throw new JetonException(ErrorCode.ISSUER_TWICE, "the issuer `" + issuer + "` is added twice");
                }
            }
        }
        if (all.isEmpty()) {
            throw new JetonException(ErrorCode.INVALID_OPTION, "pass at least one verifier");
        }
        return new MultiIssuerVerifier(all);
    }

    @Override
    public VerifiedToken verify(String token) {
        return select(token).verify(token);
    }

    @Override
    public <T> Verified<T> verify(String token, Class<T> type) {
        return select(token).verify(token, type);
    }

    @Override
    public <T> Verified<T> verify(String token, Type type) {
        return select(token).verify(token, type);
    }

    @Override
    public <T> Verification<T> tryVerify(String token, Class<T> type) {
        Verifier verifier;
        try {
            verifier = select(token);
        } catch (TokenRejectedException rejected) {
            return new Verification.Rejected<>(rejected.code(), rejected.getMessage());
        }
        return verifier.tryVerify(token, type);
    }

    /** Returns the verifier of the issuer that the token claims to have. It verifies the claim. */
    private Verifier select(String token) {
        UnverifiedToken read = UnverifiedToken.withoutNumbers(token);
        if (read.claims().isEmpty()) {
            throw new TokenRejectedException(
                    ErrorCode.TOKEN_MALFORMED, "the token is encrypted, so its issuer cannot be read");
        }
        String issuer = read.issuer().orElseThrow(() ->
                new TokenRejectedException(ErrorCode.TOKEN_INVALID_CLAIMS, "the claim `iss` is missing"));
        Verifier verifier = verifiers.get(issuer);
        if (verifier == null) {
            throw new TokenRejectedException(ErrorCode.TOKEN_ISSUER_MISMATCH, "`iss` is not the expected issuer");
        }
        return verifier;
    }
}
