package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Settings of the native library, as JSON. Unset settings are omitted. Setting a text or a list twice is an error,
 * because one value would have no effect.
 */
public final class Settings {
    private static final Pattern NAME = Pattern.compile("`([a-z_]+)`");

    private final SettingNames names;

    private final Map<String, String> members = new LinkedHashMap<>();

    /** Members that a later setting may replace. */
    private final Set<String> defaults = new HashSet<>();

    /** Creates empty settings of a builder. */
    public Settings(SettingNames names) {
        this.names = names;
    }

    /** Returns the reply of a call with these settings. The message of an invalid setting has its method. */
    byte[] inMethods(byte[] reply) {
        if (!Reply.isFailure(reply)) {
            return reply;
        }
        Reply.Failure failure = Reply.reason(reply);
        if (failure.code() != ErrorCode.INVALID_OPTION) {
            return reply;
        }
        String message = NAME.matcher(failure.message()).replaceAll(found -> "`" + names.method(found.group(1)) + "`");
        return Reply.failure(failure.code() + "\n" + message);
    }

    /** Makes the current settings defaults. A later value, or a flag that excludes the setting, replaces them. */
    public Settings asDefaults() {
        defaults.addAll(members.keySet());
        return this;
    }

    /** Sets a text. Null is an error. */
    public Settings text(String name, String value) {
        return once(name, quoted(required(value, name)));
    }

    /** Throws if the setting of a method is already set. */
    public static void checkUnset(String method, Object value) {
        if (value != null) {
            throw invalid(method, "already set: pass all values in one call");
        }
    }

    private static JetonException invalid(String method, String why) {
        return new JetonException(ErrorCode.INVALID_OPTION, "option `" + method + "`: " + why);
    }

    private <T> T required(T value, String name) {
        return Text.required(value, names.method(name));
    }

    private Settings once(String name, String json) {
        checkUnset(names.method(name), defaults.remove(name) ? null : members.get(name));
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

    private String listed(String name, Collection<String> values) {
        return required(values, name).stream()
                .map(value -> quoted(required(value, name)))
                .collect(Collectors.joining(","));
    }

    /** Sets a JSON object. */
    public Settings map(String name, Map<String, ?> members) {
        return once(name, written(name, required(members, name)));
    }

    private String written(String name, Map<String, ?> members) {
        try {
            return new String(JsonWriter.object(members), StandardCharsets.UTF_8);
        } catch (JetonException notJson) {
            throw invalid(names.method(name), "has a value that is not JSON");
        }
    }

    /** Sets a number. */
    public Settings number(String name, long value) {
        if (value < 0) {
            throw invalid(names.method(name), "must be 0 or more: " + value);
        }
        defaults.remove(name);
        members.put(name, Long.toString(value));
        return this;
    }

    /** Sets a duration in whole seconds. */
    public Settings seconds(String name, Duration value) {
        if (required(value, name).getNano() != 0) {
            throw invalid(names.method(name), "must be whole seconds: " + value);
        }
        return number(name, value.getSeconds());
    }

    /** Sets a flag. */
    public Settings flag(String name) {
        String other = SettingNames.EXCLUDES.getOrDefault(name, name);
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
        Settings copy = new Settings(names);
        copy.members.putAll(members);
        copy.defaults.addAll(defaults);
        return copy;
    }

    /** Returns the texts of a setting, or an empty list if it is unset. */
    public List<String> texts(String name) {
        String json = members.getOrDefault(name, "[]");
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        return JsonText.strings(bytes, 0, bytes.length, true);
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
