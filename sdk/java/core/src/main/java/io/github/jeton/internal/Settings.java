package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Settings of the native library, as JSON. Unset settings are omitted. Setting a text or a list twice is an error,
 * because one value would have no effect.
 */
public final class Settings {
    /** Flags, with the setting that each excludes. */
    private static final Map<String, String> EXCLUDES =
            Map.of("any_issuer", "issuer", "any_audience", "audience", "without_expiry", "lifetime");

    /** Settings whose method is not the setting in camel case. */
    private static final Map<String, String> METHODS = Map.of(
            "alg", "algorithm", "enc", "contentEncryption", "typ", "type", "cty", "contentType", "kid", "keyId", "crv",
            "curve", "default_alg", "defaultAlgorithm");

    private static final Pattern UNDERSCORE = Pattern.compile("_([a-z])");

    private static final Pattern NAME = Pattern.compile("`([a-z_]+)`");

    private final Map<String, String> members = new LinkedHashMap<>();

    /** Members that a later setting may replace. */
    private final Set<String> defaults = new HashSet<>();

    /** Replaces each setting in a message by the method that sets it: a caller does not know the settings. */
    public static String withMethods(String message) {
        return NAME.matcher(message).replaceAll(found -> "`" + method(found.group(1)) + "`");
    }

    private static String method(String setting) {
        String method = METHODS.get(setting);
        if (method != null) {
            return method;
        }
        return UNDERSCORE.matcher(setting).replaceAll(found -> found.group(1).toUpperCase(Locale.ROOT));
    }

    /** Makes the current settings defaults. A later value, or a flag that excludes the setting, replaces them. */
    public Settings asDefaults() {
        defaults.addAll(members.keySet());
        return this;
    }

    /** Sets a text. Null is an error. */
    public Settings text(String name, String value) {
        return once(name, quoted(Text.required(value, name)));
    }

    /** Throws if a setting outside the members is already set. */
    public static void checkUnset(String name, Object value) {
        if (value != null) {
            throw new JetonException(
                    ErrorCode.INVALID_OPTION, "option `" + name + "`: already set: pass all values in one call");
        }
    }

    private Settings once(String name, String json) {
        checkUnset(name, defaults.remove(name) ? null : members.get(name));
        members.put(name, json);
        return this;
    }

    /** Sets a list of texts. */
    public Settings list(String name, Collection<String> values) {
        return once(name, '[' + listed(name, values) + ']');
    }

    /** Adds texts to a list. */
    public Settings add(String name, Collection<String> values) {
        String more = listed(name, values);
        members.merge(name, '[' + more + ']', (before, ignored) -> {
            String all = before.substring(0, before.length() - 1);
            return all + (more.isEmpty() || all.length() == 1 ? "" : ",") + more + ']';
        });
        return this;
    }

    private static String listed(String name, Collection<String> values) {
        return Text.required(values, name).stream()
                .map(value -> quoted(Text.required(value, name)))
                .collect(Collectors.joining(","));
    }

    /** Sets a number. */
    public Settings number(String name, long value) {
        if (value < 0) {
            throw new JetonException(ErrorCode.INVALID_OPTION, "option `" + name + "`: must be 0 or more: " + value);
        }
        defaults.remove(name);
        members.put(name, Long.toString(value));
        return this;
    }

    /** Sets a duration in whole seconds. */
    public Settings seconds(String name, Duration value) {
        if (Text.required(value, name).getNano() != 0) {
            throw new JetonException(
                    ErrorCode.INVALID_OPTION, "option `" + name + "`: must be whole seconds: " + value);
        }
        return number(name, value.getSeconds());
    }

    /** Sets a flag. */
    public Settings flag(String name) {
        String other = EXCLUDES.getOrDefault(name, name);
        if (defaults.remove(other)) {
            members.remove(other);
        }
        members.put(name, "true");
        return this;
    }

    /** Sets an object of other settings. */
    public Settings object(String name, Settings value) {
        members.put(name, value.json());
        return this;
    }

    /** Returns a copy, so that a builder can be used again. */
    public Settings copy() {
        Settings copy = new Settings();
        copy.members.putAll(members);
        copy.defaults.addAll(defaults);
        return copy;
    }

    /** Returns the JSON as bytes. */
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
