package io.github.jeton.bytes;

import java.util.Locale;

/** The serialization of a JWS or a JWE. */
public enum Serialization {
    /** Parts in base64url, separated by dots. */
    COMPACT,
    /** JSON with one signature or recipient. */
    FLATTENED,
    /** JSON with any number of signatures or recipients. */
    GENERAL;

    String settingName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
