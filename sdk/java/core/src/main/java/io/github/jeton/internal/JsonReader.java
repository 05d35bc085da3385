package io.github.jeton.internal;

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
    private final String json;
    private int at;

    private JsonReader(String json) {
        this.json = json;
    }

    /** Returns the members of an object. */
    static Map<String, Object> object(String json) {
        JsonReader reader = new JsonReader(json);
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
        String number = json.substring(start, at);
        if (!isWhole) {
            return new BigDecimal(number);
        }
        // A long has up to nineteen digits.
        return number.length() < 19 ? (Number) Long.valueOf(number) : shortest(new BigInteger(number));
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
