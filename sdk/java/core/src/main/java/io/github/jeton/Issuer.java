package io.github.jeton;

import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.Mapping;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import io.github.jeton.testing.TestClock;
import java.time.Duration;
import java.util.List;

/**
 * Issues tokens with a key and with settings that all tokens share. It never changes, and many threads use it at once.
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
 * <p>The key decides what it issues: a signed JWT, an encrypted JWT with a key for {@link Algorithm#DIR}, or a PASETO. A public key
 * is for {@link #prepare}.
 */
public final class Issuer extends NativeObject {
    private final Mapping mapping;
    private final int bound;

    private Issuer(byte[] reply, Mapping mapping) {
        super(Handle.Kind.ISSUER, reply);
        this.mapping = mapping;
        this.bound = Calls.issueBound(this);
    }

    /** Begins an issuer with this key. */
    public static Builder builder(Key key) {
        return builder(key, new Settings());
    }

    /** For {@link io.github.jeton.testing.TestIssuer}: with settings that are set already. */
    public static Builder builder(Key key, Settings settings) {
        return new Builder(Text.required(key, "key"), Text.required(settings, "settings").copy());
    }

    /**
     * Issues a token.
     *
     * @param claims an object of the program that becomes a JSON object
     * @throws JetonException with {@code CLAIMS_WITHOUT_EXPIRY} if neither the issuer nor the claims have an expiry, and with other
     *     codes if the claims cannot be issued
     */
    public String issue(Object claims) {
        if (claims instanceof String json) {
            return issueJson(json);
        }
        Mapping.Written written = mapping.write(claims);
        return Calls.issue(this, written.array(), written.length(), bound);
    }

    /** Issues a token whose claims are a JSON object as text. */
    public String issueJson(String json) {
        byte[] claims = Text.utf8(json, "claims");
        return Calls.issue(this, claims, claims.length, bound);
    }

    /** Prepares a token whose signature is made elsewhere. The claims are a JSON object as text. */
    public PreparedToken prepareJson(String json) {
        return new PreparedToken(Calls.prepare(this, Text.utf8(json, "claims")));
    }

    /** Prepares a token whose signature is made elsewhere. */
    public PreparedToken prepare(Object claims) {
        if (claims instanceof String json) {
            return prepareJson(json);
        }
        Mapping.Written written = mapping.write(claims);
        return new PreparedToken(Calls.prepare(this, java.util.Arrays.copyOf(written.array(), written.length())));
    }

    /** The settings of an issuer. A text or a list that is set twice is an error with the code {@code INVALID_OPTION}. */
    public static final class Builder {
        private final Key key;
        private final Settings settings;
        private Key encryption;
        private TestClock clock;
        private ClaimsMapper mapper;

        private Builder(Key key, Settings settings) {
            this.key = key;
            this.settings = settings;
        }

        /** Sets who issues the tokens ({@code iss}). */
        public Builder issuer(String issuer) {
            settings.text("issuer", issuer);
            return this;
        }

        /** Sets whom the tokens are for ({@code aud}). */
        public Builder audience(String audience) {
            settings.text("audience", audience);
            return this;
        }

        /** Sets whom the tokens are for, as a list. */
        public Builder audiences(List<String> audiences) {
            settings.list("audience", audiences);
            return this;
        }

        /** Sets how long a token is valid, in whole seconds. */
        public Builder lifetime(Duration lifetime) {
            settings.seconds("lifetime", lifetime);
            return this;
        }

        /** Issues tokens that never expire. */
        public Builder withoutExpiry() {
            settings.flag("without_expiry");
            return this;
        }

        /** Sets {@code iat} to an earlier time, for tokens of something that was earlier. */
        public Builder issuedAgo(Duration ago) {
            settings.seconds("issued_ago", ago);
            return this;
        }

        /** Sets the type in the header ({@code typ}). */
        public Builder type(String type) {
            settings.text("typ", type);
            return this;
        }

        /** Issues access tokens of RFC 9068. */
        public Builder accessTokens() {
            settings.flag("access_tokens");
            return this;
        }

        /** Encrypts each token for this key after it is signed. */
        public Builder encryptTo(Key encryption) {
            Text.required(encryption, "encryption");
            Settings.checkUnset("encryption", this.encryption);
            this.encryption = encryption;
            return this;
        }

        /** As {@link #encryptTo(Key)}, with a content encryption such as {@code A128GCM}. The default is {@code A256GCM}. */
        public Builder encryptTo(Key encryption, String enc) {
            settings.text("enc", enc);
            return encryptTo(encryption);
        }

        /** Sets the footer of PASETOs, which is not encrypted. */
        public Builder footer(String footer) {
            settings.text("footer", footer);
            return this;
        }

        /** Sets what a PASETO is bound to, and does not contain. */
        public Builder implicitAssertion(String assertion) {
            settings.text("implicit_assertion", assertion);
            return this;
        }

        /** Sets the clock, for tests. */
        public Builder clock(TestClock clock) {
            this.clock = Text.required(clock, "clock");
            return this;
        }

        /** Sets what makes JSON of claims. */
        public Builder mapper(ClaimsMapper mapper) {
            this.mapper = Text.required(mapper, "mapper");
            return this;
        }

        /** Creates the issuer. */
        public Issuer build() {
            Settings all = settings.copy();
            if (key.algorithm().isPaseto()) {
                all.text("format", "paseto");
            }
            NativeObject time = clock == null ? null : TestClock.handleOf(clock);
            return new Issuer(Calls.newIssuer(key, encryption, time, all), Mapping.of(mapper));
        }
    }
}
