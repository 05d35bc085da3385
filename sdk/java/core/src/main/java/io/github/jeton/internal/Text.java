package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.nio.charset.StandardCharsets;

/** Converts texts to UTF-8. An unpaired surrogate is an error, because Java would replace it with a question mark. */
public final class Text {
    private Text() {}

    /** Returns the bytes of a text that must not be null. */
    public static byte[] utf8(String text, String name) {
        required(text, name);
        for (int at = 0; at < text.length(); at++) {
            if (Character.isSurrogate(text.charAt(at))) {
                checkPairs(text, at, name);
                break;
            }
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the bytes of a compact token. An unpaired surrogate becomes a question mark, so the token is rejected.
     */
    static byte[] compactToken(String token) {
        return required(token, "token").getBytes(StandardCharsets.UTF_8);
    }

    /** Throws if a value is null. */
    public static <T> T required(T value, String name) {
        if (value == null) {
            throw new JetonException(ErrorCode.ARGUMENT_NULL, "`" + name + "` is null");
        }
        return value;
    }

    private static void checkPairs(String text, int from, String name) {
        for (int at = from; at < text.length(); at++) {
            char unit = text.charAt(at);
            boolean isPair = Character.isHighSurrogate(unit)
                    && at + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(at + 1));
            if (isPair) {
                at++;
            } else if (Character.isSurrogate(unit)) {
                throw new JetonException(
                        ErrorCode.ARGUMENT_NOT_UTF8, "`" + name + "` has an unpaired surrogate");
            }
        }
    }
}
