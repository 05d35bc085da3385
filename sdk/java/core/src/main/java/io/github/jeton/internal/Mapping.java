package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.claims.StrictJackson;
import io.github.jeton.claims.StrictJackson3;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Reads and writes claims with a mapper. */
public final class Mapping {
    private static final boolean HAS_JACKSON_2 = isPresent("com.fasterxml.jackson.databind.json.JsonMapper");
    private static final boolean HAS_JACKSON_3 = isPresent("tools.jackson.databind.json.JsonMapper");

    private final ClaimsMapper mapper;

    private Mapping(ClaimsMapper mapper) {
        this.mapper = mapper;
    }

    /** Uses this mapper, or Jackson 2 or 3 if it is present, or no mapper: then claims are maps or JSON text. */
    public static Mapping of(ClaimsMapper mapper) {
        if (mapper != null) {
            return new Mapping(mapper);
        }
        if (HAS_JACKSON_2) {
            return Jackson2.MAPPING;
        }
        return HAS_JACKSON_3 ? Jackson3.MAPPING : new Mapping(null);
    }

    /** Loaded only if Jackson 2 is present. */
    private static final class Jackson2 {
        static final Mapping MAPPING = new Mapping(new StrictJackson());
    }

    /** Loaded only if Jackson 3 is present. */
    private static final class Jackson3 {
        static final Mapping MAPPING = new Mapping(new StrictJackson3());
    }

    static boolean isPresent(String type) {
        try {
            Class.forName(type, false, Mapping.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    private ClaimsMapper mapper() {
        if (mapper == null) {
            throw new JetonException(
                    ErrorCode.INVALID_OPTION,
                    "option `mapper`: neither Jackson 2 nor Jackson 3 is on the class path; add one, set a mapper, or use a map or"
                            + " JSON text");
        }
        return mapper;
    }

    /** A buffer. Its array may be longer than its content. */
    public static final class Written extends ByteArrayOutputStream {
        Written() {
            super(0);
        }

        /** Returns the array. */
        public byte[] array() {
            return buf;
        }

        /** Replaces the synchronized method of the superclass. The first array has the exact size. */
        @Override
        public void write(byte[] bytes, int from, int length) {
            if (count == 0) {
                buf = java.util.Arrays.copyOfRange(bytes, from, from + length);
                count = length;
            } else {
                super.write(bytes, from, length);
            }
        }

        /** Returns the length of the content. */
        public int length() {
            return count;
        }
    }

    /** Writes claims as JSON. */
    public Written write(Object claims) {
        Text.required(claims, "claims");
        Written written = new Written();
        if (mapper == null && claims instanceof Map<?, ?> members) {
            byte[] json = JsonWriter.object(members);
            written.write(json, 0, json.length);
            return written;
        }
        try {
            mapper().write(claims, written);
        } catch (IOException | RuntimeException unwritable) {
            if (unwritable instanceof JetonException own) {
                throw own;
            }
            // The message of Jackson may repeat a claim.
            throw new JetonException(
                    ErrorCode.CLAIMS_NOT_SERIALIZABLE,
                    "an object of " + claims.getClass().getName() + " cannot be written as JSON");
        }
        return written;
    }

    /** Converts the claims of a verified token to a type, and checks its constraints. */
    public Object read(VerifiedReply reply, Type type) {
        Text.required(type, "type");
        if (mapper == null && type == Map.class) {
            String json = new String(reply.array(), reply.jsonStart(), reply.jsonLength(), StandardCharsets.UTF_8);
            return JsonReader.object(json);
        }
        try {
            Object claims = mapper().read(reply.array(), reply.jsonStart(), reply.jsonLength(), type);
            if (claims != null) {
                BeanValidation.check(claims);
                return claims;
            }
        } catch (IOException | RuntimeException mismatch) {
            if (mismatch instanceof JetonException own) {
                throw own;
            }
        }
        // The message of Jackson may repeat a claim.
        throw new TokenRejectedException(
                ErrorCode.TOKEN_CLAIMS_SHAPE, "the claims do not match " + type.getTypeName());
    }
}
