package io.github.jeton.testing;

import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySet;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import io.github.jeton.internal.Settings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * An issuer for the tests of a service: it has a key, publishes it without a network, and issues tokens that the service accepts.
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

    /** Creates an issuer with a new key and a clock that stands at the moment of this call. */
    public static TestIssuer create(String issuer, String audience) {
        return new TestIssuer(issuer, audience);
    }

    /** Issues a token that is valid for a quarter of an hour. */
    public String issue(Object claims) {
        return issuer().build().issue(claims);
    }

    /**
     * Begins an issuer with the same key, to issue other tokens: {@code issuer}, {@code audience}, {@code lifetime} and
     * {@code withoutExpiry} replace what is set.
     */
    public Issuer.Builder issuer() {
        Settings settings = names().seconds("lifetime", Duration.ofMinutes(15)).asDefaults();
        return Issuer.builder(key, settings).clock(clock);
    }

    /**
     * Begins a verifier that accepts the tokens: {@code issuer}, {@code anyIssuer}, {@code audience} and {@code anyAudience} replace
     * what is set.
     */
    public Verifier.Builder verifier() {
        return Verifier.builder(keys, names().asDefaults()).clock(clock);
    }

    private Settings names() {
        return new Settings().text("issuer", issuer).text("audience", audience);
    }

    /** Returns the clock of issuer and verifier. */
    public TestClock clock() {
        return clock;
    }

    /** Returns the keys, as the issuer publishes them. */
    public KeySet keys() {
        return keys;
    }

    /** Returns a key set of the issuer's address, which is answered here. */
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
