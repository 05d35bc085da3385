package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Text;
import io.github.jeton.internal.VerifiedReply;
import io.github.jeton.internal.VerifiedReply.Claim;
import io.github.jeton.internal.VerifiedReply.Part;
import io.github.jeton.internal.VerifiedReply.Time;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A verified token. Only a verifier creates it. */
public sealed class VerifiedToken permits Verified {
    private final VerifiedReply reply;
    private final Verifier verifier;
    private final String token;

    VerifiedToken(VerifiedReply reply, Verifier verifier, String token) {
        this.reply = reply;
        this.verifier = verifier;
        this.token = token;
    }

    /** Returns all claims as JSON, exactly as in the token. */
    public final String json() {
        return reply.text(Part.JSON);
    }

    /**
     * Returns all claims. Values are texts, booleans, maps, lists, null, and numbers as {@link Long}, {@link
     * java.math.BigInteger} or {@link java.math.BigDecimal}, so that no number is rounded.
     *
     * @throws TokenRejectedException with {@code TOKEN_CLAIMS_SHAPE} if a number has more than 4,300 characters, or its
     *     exponent is too large
     */
    public final Map<String, Object> toMap() {
        return reply.claims();
    }

    /** Returns the issuer ({@code iss}). */
    public final Optional<String> issuer() {
        return Optional.ofNullable(reply.text(Claim.ISSUER));
    }

    /** Returns the subject ({@code sub}). */
    public final Optional<String> subject() {
        return Optional.ofNullable(reply.text(Claim.SUBJECT));
    }

    /** Returns the audiences ({@code aud}). */
    public final List<String> audiences() {
        return reply.texts(Claim.AUDIENCE);
    }

    /**
     * Returns whether the claim {@code scope} has this scope: a text with scopes separated by spaces (RFC 8693, section
     * 4.2), or a list of texts.
     */
    public final boolean hasScope(String scope) {
        if (Text.required(scope, "scope").isEmpty() || scope.contains(" ")) {
            return false;
        }
        Object all = toMap().get("scope");
        return all instanceof String text
                ? List.of(text.split(" ")).contains(scope)
                : all instanceof List<?> list && list.contains(scope);
    }

    /** Returns the first moment at which the token is invalid ({@code exp}). */
    public final Optional<Instant> expiresAt() {
        return time(Time.EXPIRES_AT);
    }

    /** Returns the moment from which the token is valid ({@code nbf}). */
    public final Optional<Instant> notBefore() {
        return time(Time.NOT_BEFORE);
    }

    /** Returns when the token was issued ({@code iat}). */
    public final Optional<Instant> issuedAt() {
        return time(Time.ISSUED_AT);
    }

    private Optional<Instant> time(Time time) {
        return Optional.ofNullable(reply.seconds(time)).map(Instant::ofEpochSecond);
    }

    /** Returns the id of the token ({@code jti}). */
    public final Optional<String> tokenId() {
        return Optional.ofNullable(reply.text(Claim.TOKEN_ID));
    }

    /**
     * Returns the protected header with values as in {@link #toMap}, which is empty for a PASETO. Of a nested token, it is
     * the header of the signed JWT. The verifier must not be closed.
     */
    public final Map<String, Object> header() {
        return Calls.verifiedHeader(verifier, token);
    }

    /** Returns the algorithm. */
    public final Algorithm algorithm() {
        return Algorithm.of(reply.text(Part.ALGORITHM));
    }

    /** Returns the id of the key ({@code kid}). */
    public final Optional<String> keyId() {
        return Optional.ofNullable(reply.text(Part.KEY_ID));
    }

    /** Returns the type in the header ({@code typ}). */
    public final Optional<String> type() {
        return Optional.ofNullable(reply.text(Part.TYPE));
    }

    /** Returns the footer of a PASETO. */
    public final Optional<byte[]> footer() {
        return Optional.ofNullable(reply.bytes(Part.FOOTER));
    }

    /** Returns only the class name, because claims must not appear in logs. */
    @Override
    public final String toString() {
        return getClass().getSimpleName();
    }
}
