package io.github.jeton;

import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.Mapping;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import io.github.jeton.testing.TestClock;
import java.time.Duration;
import java.util.List;

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
 * a public key, only {@link #prepare} works.
 */
public final class Issuer extends NativeObject {
    private final Mapping mapping;
    private final int bound;

    private Issuer(byte[] reply, Mapping mapping) {
        super(Handle.Kind.ISSUER, reply);
        this.mapping = mapping;
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
        Mapping.Written written = mapping.write(claims);
        return Calls.issue(this, written.array(), written.length(), bound);
    }

    /** Issues a token whose claims are a JSON object as text. */
    public String issueJson(String json) {
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
        private TestClock clock;
        private ClaimsMapper mapper;

        private Builder(Key key, Settings settings) {
            this.key = key;
            this.settings = settings;
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
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
