package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Writes maps as JSON without a library. Values are maps, iterables, arrays, texts, numbers, booleans and null. Other
 * objects need a mapper.
 */
final class JsonWriter {
    /** Below the depth that the native library allows, so that its error is the one that comes. */
    private static final int DEEPEST = 1_000;

    private final StringBuilder json = new StringBuilder();

    private JsonWriter() {}

    /** Returns a JSON object in UTF-8. */
    static byte[] object(Map<?, ?> members) {
        JsonWriter writer = new JsonWriter();
        writer.map(members, 0);
        return writer.json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void value(Object value, int depth) {
        if (depth > DEEPEST) {
            throw new JetonException(ErrorCode.CLAIMS_NOT_SERIALIZABLE, "the claims are nested too deeply");
        }
        if (value == null || value instanceof Boolean) {
            json.append(value);
        } else if (value instanceof CharSequence || value instanceof Character) {
            text(value.toString());
        } else if (value instanceof Number number) {
            number(number);
        } else if (value instanceof Map<?, ?> map) {
            map(map, depth);
        } else if (value instanceof Iterable<?> items) {
            list(items, depth);
        } else if (value.getClass().isArray()) {
            array(value, depth);
        } else {
            throw unknown(value);
        }
    }

    private void map(Map<?, ?> members, int depth) {
        char separator = '{';
        for (Map.Entry<?, ?> member : members.entrySet()) {
            json.append(separator);
            if (!(member.getKey() instanceof String name)) {
                throw new JetonException(
                        ErrorCode.CLAIMS_NOT_SERIALIZABLE, "a map has a key that is not a String, so it is no JSON object");
            }
            text(name);
            json.append(':');
            value(member.getValue(), depth + 1);
            separator = ',';
        }
        json.append(separator == '{' ? "{}" : "}");
    }

    private void list(Iterable<?> items, int depth) {
        char separator = '[';
        for (Object item : items) {
            json.append(separator);
            value(item, depth + 1);
            separator = ',';
        }
        json.append(separator == '[' ? "[]" : "]");
    }

    private void array(Object array, int depth) {
        json.append('[');
        for (int at = 0; at < Array.getLength(array); at++) {
            if (at > 0) {
                json.append(',');
            }
            value(Array.get(array, at), depth + 1);
        }
        json.append(']');
    }

    private void number(Number number) {
        boolean isWhole = number instanceof Long
                || number instanceof Integer
                || number instanceof Short
                || number instanceof Byte
                || number instanceof BigInteger;
        boolean isFinite = number instanceof BigDecimal
                || number instanceof Double && Double.isFinite(number.doubleValue())
                || number instanceof Float && Float.isFinite(number.floatValue());
        if (!isWhole && !isFinite) {
            throw unknown(number);
        }
        json.append(number);
    }

    private void text(String text) {
        json.append('"');
        for (int at = 0; at < text.length(); at++) {
            char unit = text.charAt(at);
            if (unit == '"' || unit == '\\') {
                json.append('\\').append(unit);
            } else if (unit < ' ' || Character.isSurrogate(unit) && !isPair(text, at)) {
                // The native library refuses a lone surrogate.
                json.append(String.format("\\u%04x", (int) unit));
            } else {
                json.append(unit);
            }
        }
        json.append('"');
    }

    private static boolean isPair(String text, int at) {
        boolean isHigh = Character.isHighSurrogate(text.charAt(at));
        int other = isHigh ? at + 1 : at - 1;
        if (other < 0 || other >= text.length()) {
            return false;
        }
        char neighbour = text.charAt(other);
        return isHigh ? Character.isLowSurrogate(neighbour) : Character.isHighSurrogate(neighbour);
    }

    private static JetonException unknown(Object value) {
        return new JetonException(
                ErrorCode.CLAIMS_NOT_SERIALIZABLE,
                "an object of " + value.getClass().getName()
                        + " cannot be written as JSON without a mapper: add Jackson, or set a mapper");
    }
}
