package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A verified token from the native library. {@code verified.rs} writes it. */
public final class VerifiedReply {
    private static final int PRESENT = Reply.HEAD;
    private static final int PARTS = PRESENT + 4;
    private static final int VALUES = PARTS + 5 * 8;
    private static final int TIMES = VALUES + 4 * 8;
    private static final int ESCAPED = 2048;

    /** Room for the numbers, and for the algorithm, key id and type of most tokens. */
    static final int ROOM = TIMES + 3 * 8 + 100;

    /** A part with its bit, or 0 if all tokens have it. */
    public enum Part {
        JSON(0),
        ALGORITHM(0),
        KEY_ID(256),
        TYPE(512),
        FOOTER(1024);

        private final int bit;

        Part(int bit) {
            this.bit = bit;
        }
    }

    /** A registered claim with a text. */
    public enum Claim {
        ISSUER(1),
        SUBJECT(2),
        AUDIENCE(4),
        TOKEN_ID(64);

        private final int bit;

        Claim(int bit) {
            this.bit = bit;
        }
    }

    /** A registered claim with a time. */
    public enum Time {
        EXPIRES_AT(8),
        NOT_BEFORE(16),
        ISSUED_AT(32);

        private final int bit;

        Time(int bit) {
            this.bit = bit;
        }
    }

    private final byte[] reply;

    VerifiedReply(byte[] reply) {
        this.reply = reply;
    }

    /** Returns a rejection without a call of the native library. */
    static VerifiedReply tooLarge(int actual, int limit) {
        return new VerifiedReply(Reply.failure(
                ErrorCode.TOKEN_TOO_LARGE + "\nthe token has at least " + actual + " bytes, limit " + limit));
    }

    /** Returns a rejection without a call of the native library. */
    public static VerifiedReply unknownKey() {
        return new VerifiedReply(
                Reply.failure(ErrorCode.TOKEN_UNKNOWN_KEY + "\nno key matches the token's `kid` and `alg`"));
    }

    /** Throws the rejection if there is one. */
    public VerifiedReply check() {
        Reply.check(reply);
        return this;
    }

    public boolean isFailure() {
        return Reply.isFailure(reply);
    }

    public ErrorCode code() {
        return Reply.reason(reply).code();
    }

    public String message() {
        return Reply.reason(reply).message();
    }

    private boolean has(int bit) {
        return bit == 0 || (Reply.int32(reply, PRESENT) & bit) != 0;
    }

    /** Returns the array with the JSON. It must not be changed. */
    public byte[] array() {
        return reply;
    }

    public int jsonStart() {
        return Reply.int32(reply, PARTS);
    }

    public int jsonLength() {
        return Reply.int32(reply, PARTS + 4);
    }

    /** Returns the text of a part, or null. */
    public String text(Part part) {
        if (!has(part.bit)) {
            return null;
        }
        int at = PARTS + part.ordinal() * 8;
        return new String(reply, Reply.int32(reply, at), Reply.int32(reply, at + 4), StandardCharsets.UTF_8);
    }

    /** Returns the bytes of a part, or null. */
    public byte[] bytes(Part part) {
        if (!has(part.bit)) {
            return null;
        }
        int at = PARTS + part.ordinal() * 8;
        int start = Reply.int32(reply, at);
        return Arrays.copyOfRange(reply, start, start + Reply.int32(reply, at + 4));
    }

    /** Returns all claims. */
    public Map<String, Object> claims() {
        return JsonReader.object(text(Part.JSON));
    }

    /** Returns the texts of a claim, or an empty list if it is absent. */
    public List<String> texts(Claim claim) {
        if (!has(claim.bit)) {
            return List.of();
        }
        int at = VALUES + claim.ordinal() * 8;
        return JsonText.strings(reply, Reply.int32(reply, at), Reply.int32(reply, at + 4), has(ESCAPED));
    }

    /** Returns the text of a claim, or null. */
    public String text(Claim claim) {
        if (!has(claim.bit)) {
            return null;
        }
        int at = VALUES + claim.ordinal() * 8;
        return JsonText.string(reply, Reply.int32(reply, at), Reply.int32(reply, at + 4), has(ESCAPED));
    }

    /** Returns a time in seconds since 1970, or null. */
    public Long seconds(Time time) {
        return has(time.bit) ? Reply.int64(reply, TIMES + time.ordinal() * 8) : null;
    }
}
