package io.github.jeton.bytes;

import io.github.jeton.Key;
import io.github.jeton.PreparedToken;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import java.util.Map;

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
        /** Sets the type in the header ({@code typ}). The default is {@code JWT} for claims. */
        public Builder type(String type) {
            settings.text("typ", type);
            return this;
        }

        /** Sets the content type in the header ({@code cty}). */
        public Builder contentType(String contentType) {
            settings.text("cty", contentType);
            return this;
        }

        /**
         * Adds these members to the protected header, for example {@code x5t}, {@code x5c} or {@code nonce}. A member
         * that another setting or the key decides is refused, for example {@code alg}. A nested JWT has them in its
         * signed header.
         */
        public Builder headers(Map<String, ?> headers) {
            settings.map("headers", headers);
            return this;
        }

        /** Creates a JWS without its content (RFC 7515, appendix F). */
        public Builder detached() {
            settings.flag("detached");
            return this;
        }

        /** Signs the content without base64url encoding (RFC 7797, {@code b64}: false). */
        public Builder unencoded() {
            settings.flag("unencoded");
            return this;
        }

        /** Sets the footer of a PASETO, which is authenticated but not encrypted. */
        public Builder footer(String footer) {
            settings.text("footer", footer);
            return this;
        }

        /** Sets the implicit assertion of a PASETO: data that is authenticated, but not part of the token. */
        public Builder implicitAssertion(String implicitAssertion) {
            settings.text("implicit_assertion", implicitAssertion);
            return this;
        }

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
