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
    /** Sets the key id ({@code kid}). */
    public KeyGenerator keyId(String keyId) {
        settings.text("kid", keyId);
        return this;
    }

    /** Sets the size of an RSA key, in bits. The default is 2048. */
    public KeyGenerator rsaBits(int rsaBits) {
        settings.number("rsa_bits", rsaBits);
        return this;
    }

    /** Sets the curve of a key for ECDH-ES. The default is P-256. */
    public KeyGenerator curve(String curve) {
        settings.text("crv", curve);
        return this;
    }

    /** Sets the content encryption algorithm of a key for {@code dir}. */
    public KeyGenerator contentEncryption(String contentEncryption) {
        settings.text("enc", contentEncryption);
        return this;
    }

    // END SETTINGS

    /** Generates the key. */
    public Key generate() {
        return new Key(Calls.generateKey(algorithm.standardName(), settings));
    }
}
