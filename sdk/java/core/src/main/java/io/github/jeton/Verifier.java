package io.github.jeton;

import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.Mapping;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import io.github.jeton.internal.VerifiedReply;
import io.github.jeton.testing.TestClock;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;

/**
 * Verifies tokens with its keys and its policy. It is immutable and thread-safe.
 *
 * <pre>{@code
 * Verifier verifier = Verifier.builder(key.publicKey())
 *     .issuer("https://id.example")
 *     .audience("api")
 *     .build();
 * Verified<Visit> verified = verifier.verify(token, Visit.class);
 * }</pre>
 *
 * <p>A policy requires an issuer, an audience and an expiry. These switch a check off: {@link Builder#anyIssuer},
 * {@link Builder#anyAudience}, {@link Builder#withoutExpiry}.
 */
public final class Verifier extends NativeObject implements TokenVerifier {
    private final Mapping mapping;
    private final RemoteKeySet remote;
    private final int maxTokenBytes;
    private final List<String> issuers;
    private final String unselectable;

    private Verifier(
            byte[] reply, Mapping mapping, RemoteKeySet remote, int maxTokenBytes, List<String> issuers, String unselectable) {
        super(Handle.Kind.VERIFIER, reply);
        this.issuers = issuers;
        this.unselectable = unselectable;
        this.maxTokenBytes = maxTokenBytes;
        this.mapping = mapping;
        this.remote = remote;
    }

    /** Creates a builder for a verifier with one key. It uses the public key of a private key. */
    public static Builder builder(Key key) {
        return new Builder(Text.required(key, "key"), null, null, new Settings(SettingNames.VERIFIER));
    }

    /** Creates a builder for a verifier with the keys of a set. */
    public static Builder builder(KeySet keys) {
        return builder(keys, new Settings(SettingNames.VERIFIER));
    }

    /** Creates a builder for a verifier with remote keys. */
    public static Builder builder(RemoteKeySet keys) {
        return new Builder(null, null, Text.required(keys, "keys"), new Settings(SettingNames.VERIFIER));
    }

    /** Creates a builder with these settings, for {@link io.github.jeton.testing.TestIssuer}. */
    public static Builder builder(KeySet keys, Settings settings) {
        return new Builder(null, Text.required(keys, "keys"), null, Text.required(settings, "settings").copy());
    }

    @Override
    public VerifiedToken verify(String token) {
        return new Verified<>(run(token).check(), this, token, null);
    }

    @Override
    public <T> Verified<T> verify(String token, Class<T> type) {
        Text.required(type, "type");
        VerifiedReply reply = run(token).check();
        return new Verified<>(reply, this, token, type.cast(mapping.read(reply, type)));
    }

    @Override
    @SuppressWarnings("unchecked") // the caller chooses both
    public <T> Verified<T> verify(String token, Type type) {
        Text.required(type, "type");
        VerifiedReply reply = run(token).check();
        return new Verified<>(reply, this, token, (T) mapping.read(reply, type));
    }

    @Override
    public <T> Verification<T> tryVerify(String token, Class<T> type) {
        Text.required(type, "type");
        VerifiedReply reply = run(token);
        if (reply.isFailure()) {
            if (reply.code().name().startsWith("TOKEN_")) {
                return new Verification.Rejected<>(reply.code(), reply.message());
            }
            reply.check();
        }
        try {
            return new Verified<>(reply, this, token, type.cast(mapping.read(reply, type)));
        } catch (TokenRejectedException mismatch) {
            return new Verification.Rejected<>(mismatch.code(), mismatch.getMessage());
        }
    }

    /** Returns the accepted issuers, or an empty list if it accepts any. */
    List<String> issuers() {
        return issuers;
    }

    /** Throws if the issuer of a token cannot select this verifier. */
    void checkSelectable() {
        if (unselectable != null) {
            throw new JetonException(
                    ErrorCode.INVALID_OPTION,
                    "option `" + unselectable + "`: a verifier for several issuers verifies signed JWTs only");
        }
        if (issuers.isEmpty()) {
            throw new JetonException(
                    ErrorCode.ISSUER_NOT_CHOSEN,
                    "a verifier accepts any issuer: set `issuer`, because `iss` selects the keys");
        }
    }

    private VerifiedReply run(String token) {
        VerifiedReply reply = Calls.verify(this, token, maxTokenBytes);
        return remote == null ? reply : remote.complete(reply, () -> Calls.verify(this, token, maxTokenBytes));
    }

    /**
     * Builds a verifier. Setting a text or a list twice is an error with the code {@code INVALID_OPTION}, because one
     * value would have no effect. {@link #require} adds claims.
     */
    public static final class Builder {
        private final Key key;
        private final KeySet keys;
        private final RemoteKeySet remote;
        private final Settings settings;
        private final Settings limits = new Settings(SettingNames.LIMITS);
        private KeySet decryption;
        private TestClock clock;
        private ClaimsMapper mapper;
        private boolean paseto;
        private int maxTokenBytes = Calls.DEFAULT_TOKEN_BYTES;

        private Builder(Key key, KeySet keys, RemoteKeySet remote, Settings settings) {
            this.settings = settings;
            this.key = key;
            this.keys = keys;
            this.remote = remote;
            this.paseto = key != null && key.algorithm().isPaseto();
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        /** Accepts only tokens of this issuer ({@code iss}), or of one of several with {@link #sharedKeys}. */
        public Builder issuer(String issuer) {
            settings.text("issuer", issuer);
            return this;
        }

        /** Does the same as {@link #issuer}, with several values. */
        public Builder issuers(List<String> issuers) {
            settings.list("issuer", issuers);
            return this;
        }

        /**
         * Accepts several issuers that share the keys of the verifier. The verifier trusts each of the keys for each of
         * these issuers, so an issuer can sign for another.
         */
        public Builder sharedKeys() {
            settings.flag("shared_keys");
            return this;
        }

        /** Accepts tokens of any issuer, and tokens without {@code iss}. */
        public Builder anyIssuer() {
            settings.flag("any_issuer");
            return this;
        }

        /** Accepts only tokens for this audience ({@code aud}), or for one of several. */
        public Builder audience(String audience) {
            settings.text("audience", audience);
            return this;
        }

        /** Does the same as {@link #audience}, with several values. */
        public Builder audiences(List<String> audiences) {
            settings.list("audience", audiences);
            return this;
        }

        /** Accepts tokens for any audience, and tokens without {@code aud}. */
        public Builder anyAudience() {
            settings.flag("any_audience");
            return this;
        }

        /** Accepts tokens without {@code exp}. If a token has {@code exp}, it is still checked. */
        public Builder withoutExpiry() {
            settings.flag("without_expiry");
            return this;
        }

        /** Accepts only access tokens (RFC 9068): the type {@code at+jwt}, and the claims that the RFC requires. */
        public Builder accessTokens() {
            settings.flag("access_tokens");
            return this;
        }

        /** Rejects tokens that lack one of these claims. Further calls add more. */
        public Builder require(String... required) {
            settings.add("required", List.of(Text.required(required, "required")));
            return this;
        }

        /**
         * Sets the allowed difference between clocks for {@code exp}, {@code nbf} and {@code iat}. {@code iat} may be
         * 60 seconds ahead of the clock in any case, unless {@link #maxAge} is set. The default is 0. It must be whole
         * seconds.
         */
        public Builder leeway(Duration leeway) {
            settings.seconds("leeway", leeway);
            return this;
        }

        /**
         * Rejects tokens without {@code iat}, and tokens whose {@code iat} is longer ago than this. It must be whole
         * seconds.
         */
        public Builder maxAge(Duration maxAge) {
            settings.seconds("max_age", maxAge);
            return this;
        }

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

        /**
         * Caches up to this number of verified tokens, so that each signature is verified once. {@code exp},
         * {@code nbf} and {@code iat} are still checked for each call. The default is no cache. It cannot be used with
         * a remote key set.
         */
        public Builder cache(int cache) {
            settings.number("cache", cache);
            return this;
        }

        // END SETTINGS

        /** Requires one of these types in the header ({@code typ}). */
        public Builder types(String... types) {
            settings.list("typ", List.of(Text.required(types, "types")));
            return this;
        }

        /** Requires nested tokens: signed, then encrypted to one of these keys. */
        public Builder decryptWith(KeySet decryption) {
            Text.required(decryption, "decryption");
            Settings.checkUnset("decryptWith", this.decryption);
            this.decryption = decryption;
            return this;
        }

        /** As {@link #decryptWith(KeySet)}, with one key. */
        public Builder decryptWith(Key decryption) {
            return decryptWith(KeySet.of(decryption));
        }

        /** Accepts only these content encryption algorithms. */
        public Builder contentEncryptions(String... encs) {
            settings.list("enc", List.of(Text.required(encs, "encs")));
            return this;
        }

        /** Verifies PASETOs. A verifier with one PASETO key does not need this call. */
        public Builder paseto() {
            paseto = true;
            return this;
        }

        /** Limits the size of a token. The default is 2 MiB. */
        public Builder maxTokenBytes(int bytes) {
            limits.number("token_bytes", bytes);
            maxTokenBytes = bytes;
            return this;
        }

        /** Limits the nesting depth of the claims. */
        public Builder maxJsonDepth(int depth) {
            limits.number("json_depth", depth);
            return this;
        }

        /** Limits how many keys are tried for a token without {@code kid}. */
        public Builder maxKeysTried(int keys) {
            limits.number("keys_tried", keys);
            return this;
        }

        /** Sets the clock, for tests. */
        public Builder clock(TestClock clock) {
            this.clock = Text.required(clock, "clock");
            return this;
        }

        /** Sets the mapper that converts claims to objects. */
        public Builder mapper(ClaimsMapper mapper) {
            this.mapper = Text.required(mapper, "mapper");
            return this;
        }

        /** Creates the verifier. */
        public Verifier build() {
            Settings all = settings.copy().object("limits", limits);
            if (paseto) {
                all.text("format", "paseto");
            }
            NativeObject time = clock == null ? null : TestClock.handleOf(clock);
            var from = new Calls.VerifierKeys(key, keys, decryption, remote);
            String unselectable = decryption != null ? "decryptWith" : paseto ? "paseto" : null;
            byte[] reply = Calls.newVerifier(from, time, all);
            return new Verifier(reply, Mapping.of(mapper), remote, maxTokenBytes, all.texts("issuer"), unselectable);
        }
    }
}
