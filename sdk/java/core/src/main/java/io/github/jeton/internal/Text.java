package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.nio.charset.StandardCharsets;

/** Texts as UTF-8. Half of a surrogate pair is an error, as Java would replace it by a question mark. */
public final class Text {
    private Text() {}

    /** The bytes of a text that is not null. */
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
     * The bytes of a compact token. Half of a surrogate pair becomes a question mark here, which no compact token has, so it is
     * rejected.
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
                        ErrorCode.ARGUMENT_NOT_UTF8, "`" + name + "` has half of a surrogate pair");
            }
        }
    }
}
