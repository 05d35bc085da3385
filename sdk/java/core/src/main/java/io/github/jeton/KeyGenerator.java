package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;

/** Generates a key with settings. */
public final class KeyGenerator {
    private final Algorithm algorithm;
    private final Settings settings = new Settings(SettingNames.KEY);

    KeyGenerator(Algorithm algorithm) {
        this.algorithm = Text.required(algorithm, "algorithm");
    }

    // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
    // END SETTINGS

    /** Generates the key. */
    public Key generate() {
        return new Key(Calls.generateKey(algorithm.standardName(), settings));
    }
}
