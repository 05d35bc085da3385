package io.github.jeton.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads values of JSON that the native library has checked, so they are valid. */
public final class JsonText {
    private JsonText() {}

    /** Returns the text of a JSON string with quotes. */
    static String string(byte[] json, int start, int length, boolean hasEscapes) {
        String raw = new String(json, start + 1, length - 2, StandardCharsets.UTF_8);
        return hasEscapes && raw.indexOf('\\') >= 0 ? unescaped(raw) : raw;
    }

    /** Returns the texts of a JSON string or of a list of strings. */
    static List<String> strings(byte[] json, int start, int length, boolean hasEscapes) {
        if (json[start] == '"') {
            return List.of(string(json, start, length, hasEscapes));
        }
        List<String> all = new ArrayList<>();
        int end = start + length;
        for (int at = start + 1; at < end; at++) {
            if (json[at] != '"') {
                continue;
            }
            int close = at + 1;
            while (json[close] != '"') {
                close += json[close] == '\\' ? 2 : 1;
            }
            all.add(string(json, at, close + 1 - at, hasEscapes));
            at = close;
        }
        return List.copyOf(all);
    }

    static String unescaped(String raw) {
        StringBuilder text = new StringBuilder(raw.length());
        for (int at = 0; at < raw.length(); at++) {
            char unit = raw.charAt(at);
            if (unit != '\\') {
                text.append(unit);
                continue;
            }
            char escape = raw.charAt(++at);
            switch (escape) {
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'n' -> text.append('\n');
                case 'r' -> text.append('\r');
                case 't' -> text.append('\t');
                case 'u' -> {
                    text.append((char) Integer.parseInt(raw, at + 1, at + 5, 16));
                    at += 4;
                }
                default -> text.append(escape);
            }
        }
        return text.toString();
    }

    /**
     * Returns the value of a member of an object from the native library: a text, a number or a word; null for null.
     */
    public static String member(String object, String name) {
        int at = object.indexOf("\"" + name + "\":");
        if (at < 0) {
            return null;
        }
        at += name.length() + 3;
        if (object.charAt(at) != '"') {
            int end = at;
            while (object.charAt(end) != ',' && object.charAt(end) != '}') {
                end++;
            }
            String word = object.substring(at, end);
            return word.equals("null") ? null : word;
        }
        int close = at + 1;
        while (object.charAt(close) != '"') {
            close += object.charAt(close) == '\\' ? 2 : 1;
        }
        return unescaped(object.substring(at + 1, close));
    }
}
