package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.TokenRejectedException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON that the native library has checked: it is valid, has no duplicate members, and its depth is limited.
 * Numbers are a {@link Long}, a {@link BigInteger} or a {@link BigDecimal}, so that nothing is rounded.
 */
final class JsonReader {
    /** The longest number. Reading one takes time in the square of its length. */
    private static final int NUMBER_LENGTH = 4300;

    private final String json;
    private final boolean hasNumbers;
    private int at;

    private JsonReader(String json, boolean hasNumbers) {
        this.json = json;
        this.hasNumbers = hasNumbers;
    }

    /**
     * Returns the members of an object.
     *
     * @throws TokenRejectedException if Java has no form for one of its numbers
     */
    static Map<String, Object> object(String json) {
        return object(json, true);
    }

    /** As {@link #object(String)}, with null for each number, so that each object can be read. */
    static Map<String, Object> objectWithoutNumbers(String json) {
        return object(json, false);
    }

    private static Map<String, Object> object(String json, boolean hasNumbers) {
        JsonReader reader = new JsonReader(json, hasNumbers);
        reader.space();
        return reader.object();
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        while (next() != '}') {
            String name = string();
            next(); // skips the colon, like a comma
            members.put(name, value());
        }
        at++;
        return Collections.unmodifiableMap(members);
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        at++;
        while (next() != ']') {
            items.add(value());
        }
        at++;
        return Collections.unmodifiableList(items);
    }

    private Object value() {
        switch (json.charAt(at)) {
            case '{':
                return object();
            case '[':
                return list();
            case '"':
                return string();
            case 't':
                at += 4;
                return true;
            case 'f':
                at += 5;
                return false;
            case 'n':
                at += 4;
                return null;
            default:
                return number();
        }
    }

    private String string() {
        int start = at + 1;
        boolean hasEscapes = false;
        for (at = start; json.charAt(at) != '"'; at++) {
            if (json.charAt(at) == '\\') {
                hasEscapes = true;
                at++;
            }
        }
        String raw = json.substring(start, at++);
        return hasEscapes ? JsonText.unescaped(raw) : raw;
    }

    private Number number() {
        int start = at;
        boolean isWhole = true;
        while (at < json.length() && "+-.eE0123456789".indexOf(json.charAt(at)) >= 0) {
            isWhole &= ".eE".indexOf(json.charAt(at)) < 0;
            at++;
        }
        if (!hasNumbers) {
            return null;
        }
        String number = json.substring(start, at);
        if (number.length() > NUMBER_LENGTH) {
            throw unreadable();
        }
        if (!isWhole) {
            try {
                return new BigDecimal(number);
            } catch (NumberFormatException exponent) {
                throw unreadable();
            }
        }
        // A long has up to nineteen digits.
        return number.length() < 19 ? (Number) Long.valueOf(number) : shortest(new BigInteger(number));
    }

    private static TokenRejectedException unreadable() {
        String why = "a number of the token has more than " + NUMBER_LENGTH + " characters, or its exponent is too large";
        return new TokenRejectedException(ErrorCode.TOKEN_CLAIMS_SHAPE, why);
    }

    private static Number shortest(BigInteger number) {
        return number.bitLength() < Long.SIZE ? (Number) number.longValueExact() : number;
    }

    private void space() {
        while (" \t\r\n".indexOf(json.charAt(at)) >= 0) {
            at++;
        }
    }

    /** Returns the next character that is neither space nor separator. */
    private char next() {
        while (" \t\r\n,:".indexOf(json.charAt(at)) >= 0) {
            at++;
        }
        return json.charAt(at);
    }
}
