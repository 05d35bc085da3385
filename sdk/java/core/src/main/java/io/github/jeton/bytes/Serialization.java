package io.github.jeton.bytes;

import java.util.Locale;

/** How a JWS or a JWE is written. */
public enum Serialization {
    /** Parts of base64url, with dots between them. */
    COMPACT,
    /** JSON with one signature or recipient. */
    FLATTENED,
    /** JSON with any number. */
    GENERAL;

    String settingName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
