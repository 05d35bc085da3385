package io.github.jeton;

import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.JcaSigner;
import io.github.jeton.internal.Mapping;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import io.github.jeton.testing.TestClock;
import java.security.PrivateKey;
import java.security.Provider;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Issues tokens with one key and shared settings. It is immutable and thread-safe.
 *
 * <pre>{@code
 * Issuer issuer = Issuer.builder(key)
 *     .issuer("https://id.example")
 *     .audience("api")
 *     .lifetime(Duration.ofMinutes(15))
 *     .build();
 * String token = issuer.issue(new Visit("/"));
 * }</pre>
 *
 * <p>The key selects the format: a signed JWT, an encrypted JWT with a key for {@link Algorithm#DIR}, or a PASETO. With
 * a public key, only {@link #prepare} works, unless {@link Builder#signWith} has the private key.
 */
public final class Issuer extends NativeObject {
    private final Mapping mapping;
    private final JcaSigner signer;
    private final int bound;

    private Issuer(byte[] reply, Mapping mapping, JcaSigner signer) {
        super(Handle.Kind.ISSUER, reply);
        this.mapping = mapping;
        this.signer = signer;
        this.bound = Calls.issueBound(this);
    }

    /** Creates a builder for an issuer with this key. */
    public static Builder builder(Key key) {
        return builder(key, new Settings(SettingNames.ISSUER));
    }

    /** Creates a builder with these settings, for {@link io.github.jeton.testing.TestIssuer}. */
    public static Builder builder(Key key, Settings settings) {
        return new Builder(Text.required(key, "key"), Text.required(settings, "settings").copy());
    }

    /**
     * Issues a token.
     *
     * @param claims an object that is written as a JSON object
     * @throws JetonException with {@code CLAIMS_WITHOUT_EXPIRY} if neither the issuer nor the claims have an expiry,
     *     and with another code if the claims cannot be issued
     */
    public String issue(Object claims) {
        if (claims instanceof String json) {
            return issueJson(json);
        }
        if (signer != null) {
            return signer.sign(prepare(claims));
        }
        Mapping.Written written = mapping.write(claims);
        return Calls.issue(this, written.array(), written.length(), bound);
    }

    /** Issues a token whose claims are a JSON object as text. */
    public String issueJson(String json) {
        if (signer != null) {
            return signer.sign(prepareJson(json));
        }
        byte[] claims = Text.utf8(json, "claims");
        return Calls.issue(this, claims, claims.length, bound);
    }

    /** Prepares a token for signing outside this library. The claims are a JSON object as text. */
    public PreparedToken prepareJson(String json) {
        return new PreparedToken(Calls.prepare(this, Text.utf8(json, "claims")));
    }

    /** Prepares a token for signing outside this library, such as in a KMS. */
    public PreparedToken prepare(Object claims) {
        if (claims instanceof String json) {
            return prepareJson(json);
        }
        Mapping.Written written = mapping.write(claims);
        return new PreparedToken(Calls.prepare(this, java.util.Arrays.copyOf(written.array(), written.length())));
    }

    /** Builds an issuer. Setting a text or a list twice is an error with the code {@code INVALID_OPTION}. */
    public static final class Builder {
        private final Key key;
        private final Settings settings;
        private Key encryption;
        private PrivateKey privateKey;
        private Provider provider;
        private TestClock clock;
        private ClaimsMapper mapper;

        private Builder(Key key, Settings settings) {
            this.key = key;
            this.settings = settings;
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        /** Sets the claim {@code iss}. */
        public Builder issuer(String issuer) {
            settings.text("issuer", issuer);
            return this;
        }

        /** Sets the claim {@code aud}. */
        public Builder audience(String audience) {
            settings.text("audience", audience);
            return this;
        }

        /** Does the same as {@link #audience}, with several values. */
        public Builder audiences(List<String> audiences) {
            settings.list("audience", audiences);
            return this;
        }

        /**
         * Sets the claim {@code exp} to this time after {@code iat}. Without it, the claims of each token must have
         * {@code exp}, unless {@link #withoutExpiry} is set. It must be whole seconds.
         */
        public Builder lifetime(Duration lifetime) {
            settings.seconds("lifetime", lifetime);
            return this;
        }

        /** Issues tokens without {@code exp}. */
        public Builder withoutExpiry() {
            settings.flag("without_expiry");
            return this;
        }

        /**
         * Sets the claim {@code iat} to this time before now, for verifiers whose clocks are behind. {@code exp} is
         * also earlier, because {@link #lifetime} counts from {@code iat}. It must be whole seconds.
         */
        public Builder issuedAgo(Duration issuedAgo) {
            settings.seconds("issued_ago", issuedAgo);
            return this;
        }

        /** Sets the type in the header ({@code typ}). The default is {@code JWT} for claims. */
        public Builder type(String type) {
            settings.text("typ", type);
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

        /**
         * Issues access tokens (RFC 9068): the type {@code at+jwt}, and claims with {@code sub}, {@code jti} and
         * {@code client_id}.
         */
        public Builder accessTokens() {
            settings.flag("access_tokens");
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

        /** Encrypts each signed token to this key. */
        public Builder encryptTo(Key encryption) {
            Text.required(encryption, "encryption");
            Settings.checkUnset("encryptTo", this.encryption);
            this.encryption = encryption;
            return this;
        }

        /** As {@link #encryptTo(Key)}, with a content encryption algorithm. The default is {@code A256GCM}. */
        public Builder encryptTo(Key encryption, String enc) {
            settings.text("enc", enc);
            return encryptTo(encryption);
        }

        /**
         * Signs with a private key that stays in its provider, such as PKCS#11 or a KMS. The builder has the public
         * key, which verifies each signature. The JVM selects the provider.
         */
        public Builder signWith(PrivateKey privateKey) {
            Text.required(privateKey, "privateKey");
            Settings.checkUnset("signWith", this.privateKey);
            this.privateKey = privateKey;
            return this;
        }

        /** As {@link #signWith(PrivateKey)}, with this provider. */
        public Builder signWith(PrivateKey privateKey, Provider provider) {
            this.provider = Text.required(provider, "provider");
            return signWith(privateKey);
        }

        /** Sets the clock, for tests. */
        public Builder clock(TestClock clock) {
            this.clock = Text.required(clock, "clock");
            return this;
        }

        /** Sets the mapper that writes claims as JSON. */
        public Builder mapper(ClaimsMapper mapper) {
            this.mapper = Text.required(mapper, "mapper");
            return this;
        }

        /**
         * Creates the issuer.
         *
         * @throws JetonException with {@code KEY_TYPE_MISMATCH} if no provider signs with the key of {@link #signWith}
         */
        public Issuer build() {
            Settings all = settings.copy();
            if (key.algorithm().isPaseto()) {
                all.text("format", "paseto");
            }
            JcaSigner signer = signer();
            NativeObject time = clock == null ? null : TestClock.handleOf(clock);
            return new Issuer(Calls.newIssuer(key, encryption, time, all), Mapping.of(mapper), signer);
        }

        private JcaSigner signer() {
            if (privateKey == null) {
                return null;
            }
            if (key.kind() != Key.Kind.PUBLIC) {
                throw new JetonException(
                        ErrorCode.INVALID_OPTION,
                        "option `signWith`: needs an issuer with a public key, found a "
                                + key.kind().name().toLowerCase(java.util.Locale.ROOT) + " key");
            }
            return new JcaSigner(key.algorithm(), privateKey, provider);
        }
    }
}
