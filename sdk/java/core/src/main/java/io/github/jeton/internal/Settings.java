package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** Settings of the native library, as JSON. A setting that is not set is not written. */
public final class Settings {
    private final Map<String, String> members = new LinkedHashMap<>();

    /** Sets a text. Null is an error. */
    public Settings text(String name, String value) {
        members.put(name, quoted(Text.required(value, name)));
        return this;
    }

    /** Sets a text or several. One is written as a text. */
    public Settings texts(String name, Collection<String> values) {
        return Text.required(values, name).size() == 1
                ? text(name, values.iterator().next())
                : list(name, values);
    }

    /** Sets a list of texts. */
    public Settings list(String name, Collection<String> values) {
        StringBuilder list = new StringBuilder("[");
        for (String value : Text.required(values, name)) {
            list.append(list.length() > 1 ? "," : "").append(quoted(Text.required(value, name)));
        }
        members.put(name, list.append(']').toString());
        return this;
    }

    /** Sets a number. */
    public Settings number(String name, long value) {
        if (value < 0) {
            throw new JetonException(ErrorCode.INVALID_OPTION, "option `" + name + "`: is negative");
        }
        members.put(name, Long.toString(value));
        return this;
    }

    /** Sets whole seconds. */
    public Settings seconds(String name, Duration value) {
        if (Text.required(value, name).getNano() != 0) {
            throw new JetonException(
                    ErrorCode.INVALID_OPTION, "option `" + name + "`: has a part of a second");
        }
        return number(name, value.getSeconds());
    }

    /** Sets a flag. */
    public Settings flag(String name) {
        members.put(name, "true");
        return this;
    }

    /** Sets an object of other settings. */
    public Settings object(String name, Settings value) {
        members.put(name, value.json());
        return this;
    }

    /** A copy, so that a builder can be used again. */
    public Settings copy() {
        Settings copy = new Settings();
        copy.members.putAll(members);
        return copy;
    }

    /** The JSON as bytes. */
    public byte[] bytes() {
        return Text.utf8(json(), "settings");
    }

    private String json() {
        StringBuilder json = new StringBuilder("{");
        members.forEach((name, value) ->
                json.append(json.length() > 1 ? "," : "").append('"').append(name).append("\":").append(value));
        return json.append('}').toString();
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char unit = text.charAt(at);
            if (unit == '"' || unit == '\\') {
                quoted.append('\\').append(unit);
            } else if (unit < ' ') {
                quoted.append(String.format("\\u%04x", (int) unit));
            } else {
                quoted.append(unit);
            }
        }
        return quoted.append('"').toString();
    }
}
