package io.github.jeton.testing;

import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySet;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * An issuer for tests of a service. It publishes its key without a network and issues tokens that the service accepts.
 *
 * <pre>{@code
 * TestIssuer issuer = TestIssuer.create("https://id.example", "api");
 * Verifier verifier = issuer.verifier().build();
 * String token = issuer.issue("{\"sub\":\"user-7\"}");
 * }</pre>
 */
public final class TestIssuer {
    private final String issuer;
    private final String audience;
    private final Key key = Key.generator(Algorithm.ES256).keyId("test").generate();
    private final KeySet keys = KeySet.of(key.publicKey());
    private final TestClock clock = TestClock.now();

    private TestIssuer(String issuer, String audience) {
        this.issuer = issuer;
        this.audience = audience;
    }

    /** Creates an issuer with a new key and a clock set to the current time. */
    public static TestIssuer create(String issuer, String audience) {
        return new TestIssuer(issuer, audience);
    }

    /** Issues a token that is valid for 15 minutes. */
    public String issue(Object claims) {
        return issuer().build().issue(claims);
    }

    /**
     * Creates a builder for an issuer with the same key, for other tokens. {@code issuer}, {@code audience},
     * {@code lifetime} and {@code withoutExpiry} replace its defaults.
     */
    public Issuer.Builder issuer() {
        Settings settings = names(SettingNames.ISSUER).seconds("lifetime", Duration.ofMinutes(15)).asDefaults();
        return Issuer.builder(key, settings).clock(clock);
    }

    /**
     * Creates a builder for a verifier that accepts the tokens. {@code issuer}, {@code anyIssuer}, {@code audience} and
     * {@code anyAudience} replace its defaults.
     */
    public Verifier.Builder verifier() {
        return Verifier.builder(keys, names(SettingNames.VERIFIER).asDefaults()).clock(clock);
    }

    private Settings names(SettingNames names) {
        return new Settings(names).text("issuer", issuer).text("audience", audience);
    }

    /** Returns the clock of the issuer and the verifier. */
    public TestClock clock() {
        return clock;
    }

    /** Returns the published keys of the issuer. */
    public KeySet keys() {
        return keys;
    }

    /** Returns a remote key set for the issuer's address, which needs no network. */
    public RemoteKeySet remoteKeys() {
        String document = "{\"issuer\":\"" + issuer + "\",\"jwks_uri\":\"" + issuer + "/jwks.json\"}";
        return RemoteKeySet.discover(issuer)
                .fetcher(request -> new RemoteKeySet.Response(
                        200,
                        Map.of(),
                        (request.uri().getPath().endsWith("/jwks.json") ? keys.toJwks() : document)
                                .getBytes(StandardCharsets.UTF_8)))
                .build();
    }
}
