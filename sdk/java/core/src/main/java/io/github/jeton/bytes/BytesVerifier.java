package io.github.jeton.bytes;

import io.github.jeton.Key;
import io.github.jeton.KeySet;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import java.util.List;

/** Verifies or decrypts tokens with bytes instead of claims: JWS, JWE and PASETO. */
public final class BytesVerifier extends NativeObject {
    private BytesVerifier(byte[] reply) {
        super(Handle.Kind.VERIFIER, reply);
    }

    /** Creates a builder for a JWS verifier with one key. */
    public static Builder jws(Key key) {
        return new Builder("jws", Text.required(key, "key"), null, null);
    }

    /** Creates a builder for a JWS verifier with the keys of a set. */
    public static Builder jws(KeySet keys) {
        return new Builder("jws", null, Text.required(keys, "keys"), null);
    }

    /** Creates a builder for a verifier that decrypts JWEs with one key. */
    public static Builder jwe(Key decryption) {
        return jwe(KeySet.of(decryption));
    }

    /** Creates a builder for a verifier that decrypts JWEs with the keys of a set. */
    public static Builder jwe(KeySet decryption) {
        return new Builder("jwe", null, null, Text.required(decryption, "decryption"));
    }

    /** Creates a builder for a PASETO verifier with one key. */
    public static Builder paseto(Key key) {
        return new Builder("paseto-bytes", Text.required(key, "key"), null, null);
    }

    /**
     * Verifies or decrypts a token and returns its bytes.
     *
     * @throws io.github.jeton.TokenRejectedException if the token is rejected
     */
    public byte[] verify(String token) {
        return Calls.verifyBytes(this, token, null);
    }

    /**
     * Verifies a detached JWS with these bytes and returns them.
     *
     * @throws io.github.jeton.TokenRejectedException if the token is rejected
     */
    public byte[] verifyDetached(String token, byte[] content) {
        return Calls.verifyBytes(this, token, Text.required(content, "content"));
    }

    /** Builds a verifier. */
    public static final class Builder {
        private final Key key;
        private final KeySet keys;
        private final KeySet decryption;
        private final Settings settings = new Settings(SettingNames.BYTES_VERIFIER);
        private final Settings limits = new Settings(SettingNames.LIMITS);

        private Builder(String format, Key key, KeySet keys, KeySet decryption) {
            this.key = key;
            this.keys = keys;
            this.decryption = decryption;
            settings.text("format", format);
        }

        /** Sets the serialization of tokens. */
        public Builder serialization(Serialization serialization) {
            settings.text("serialization", Text.required(serialization, "serialization").settingName());
            return this;
        }

        /** Accepts only these content encryption algorithms. */
        public Builder contentEncryptions(String... encs) {
            settings.list("enc", List.of(Text.required(encs, "encs")));
            return this;
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        /** Requires this footer of a PASETO. Without it, any footer is accepted. */
        public Builder footer(String footer) {
            settings.text("footer", footer);
            return this;
        }

        /** Requires this implicit assertion of a PASETO: the same as the issuer. */
        public Builder implicitAssertion(String implicitAssertion) {
            settings.text("implicit_assertion", implicitAssertion);
            return this;
        }

        // END SETTINGS

        /** Limits the size of a token. */
        public Builder maxTokenBytes(int bytes) {
            limits.number("token_bytes", bytes);
            return this;
        }

        /** Limits the nesting depth of the header. */
        public Builder maxJsonDepth(int depth) {
            limits.number("json_depth", depth);
            return this;
        }

        /** Creates the verifier. */
        public BytesVerifier build() {
            Settings all = settings.copy().object("limits", limits);
            return new BytesVerifier(Calls.newVerifier(new Calls.VerifierKeys(key, keys, decryption, null), null, all));
        }
    }
}
