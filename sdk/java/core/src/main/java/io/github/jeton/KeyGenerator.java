package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;

/** Generates a key with settings. */
public final class KeyGenerator {
    private final Algorithm algorithm;
    private final Settings settings = new Settings();

    KeyGenerator(Algorithm algorithm) {
        this.algorithm = Text.required(algorithm, "algorithm");
    }

    /** Sets the key id ({@code kid}). */
    public KeyGenerator keyId(String keyId) {
        settings.text("kid", keyId);
        return this;
    }

    /** Sets the size of an RSA key: 2048 (the default), 3072, 4096 or 8192 bits. */
    public KeyGenerator rsaBits(int bits) {
        settings.number("rsa_bits", bits);
        return this;
    }

    /** Sets the curve of a key for ECDH-ES: P-256 (the default), P-384, P-521 or X25519. */
    public KeyGenerator curve(String name) {
        settings.text("crv", name);
        return this;
    }

    /** Sets the content encryption of a key for {@link Algorithm#DIR}. */
    public KeyGenerator contentEncryption(String enc) {
        settings.text("enc", enc);
        return this;
    }

    /** Generates the key. */
    public Key generate() {
        return new Key(Calls.generateKey(algorithm.standardName(), settings));
    }
}
