package io.github.jeton.bytes;

import io.github.jeton.Key;
import io.github.jeton.PreparedToken;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;

/**
 * Signs or encrypts bytes instead of claims: JWS, JWE and PASETO.
 *
 * <pre>{@code
 * BytesIssuer signer = BytesIssuer.jws(key).detached().build();
 * String signature = signer.issue(webhookBody);
 * }</pre>
 */
public final class BytesIssuer extends NativeObject {
    private BytesIssuer(byte[] reply) {
        super(Handle.Kind.ISSUER, reply);
    }

    /** Creates a builder for an issuer that signs. With a public key, only {@link #prepare} works. */
    public static Builder jws(Key key) {
        return new Builder("jws", Text.required(key, "key"), null);
    }

    /** Creates a builder for an issuer that encrypts to a key. */
    public static Builder jwe(Key encryption) {
        return new Builder("jwe", null, Text.required(encryption, "encryption"));
    }

    /** Creates a builder for an issuer of PASETOs. */
    public static Builder paseto(Key key) {
        return new Builder("paseto-bytes", Text.required(key, "key"), null);
    }

    /** Signs or encrypts bytes. */
    public String issue(byte[] data) {
        return Calls.issueBytes(this, data);
    }

    /**
     * Prepares a JWS for signing outside this library. It is compact and contains the bytes: with a public key,
     * {@code detached}, {@code unencoded}, {@code contentType} and other serializations are errors with the code
     * {@code INVALID_OPTION}.
     */
    public PreparedToken prepare(byte[] data) {
        return new PreparedToken(Calls.prepare(this, data));
    }

    /** Builds an issuer. */
    public static final class Builder {
        private final Key key;
        private final Key encryption;
        private final Settings settings = new Settings(SettingNames.BYTES_ISSUER);

        private Builder(String format, Key key, Key encryption) {
            this.key = key;
            this.encryption = encryption;
            settings.text("format", format);
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        // END SETTINGS

        /** Sets the content encryption of a JWE. The default is {@code A256GCM}. */
        public Builder contentEncryption(String enc) {
            settings.text("enc", enc);
            return this;
        }

        /** Sets the serialization of a JWS or a JWE. */
        public Builder serialization(Serialization serialization) {
            settings.text("serialization", Text.required(serialization, "serialization").settingName());
            return this;
        }

        /** Creates the issuer. */
        public BytesIssuer build() {
            return new BytesIssuer(Calls.newIssuer(key, encryption, null, settings));
        }
    }
}
