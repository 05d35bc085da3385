package io.github.jeton.internal;

import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySet;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.Verifier;
import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import io.github.jeton.testing.TestClock;
import io.github.jeton.testing.TestIssuer;
import java.time.Duration;
import java.util.Map;

/** A program that uses every function of the native library. */
public final class Everything {
    private Everything() {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 20; round++) {
            use();
        }
        Thread thread = new Thread(Everything::use);
        thread.start();
        thread.join();
        System.gc();
        System.out.println("everything was used");
    }

    private static void use() {
        try (Key key = Key.generator(Algorithm.ES256).keyId("a").generate();
                Key open = Key.of(key.toJwk());
                KeySet set = KeySet.of(key, Key.generate(Algorithm.HS256));
                Issuer issuer = Issuer.builder(key).issuer("i").audience("a").lifetime(Duration.ofMinutes(1)).build();
                Verifier verifier = Verifier.builder(KeySet.parse(set.toJwks())).issuer("i").audience("a").build()) {
            set.keyIds();
            String token = issuer.issue(Map.of("sub", "u"));
            verifier.verify(token).toMap();
            verifier.verify(issuer.issueJson("{\"long\":\"" + "x".repeat(5_000) + "\"}")).json();
            try {
                verifier.verify(token + "x");
                throw new AssertionError();
            } catch (TokenRejectedException expected) {
                expected.code();
            }
            var prepared = Issuer.builder(open).withoutExpiry().build().prepareJson("{}");
            prepared.message();
            try {
                prepared.attach(new byte[64]);
                throw new AssertionError();
            } catch (io.github.jeton.JetonException expected) {
                expected.code();
            }
            String signed = BytesIssuer.jws(key).detached().build().issue(new byte[10_000]);
            BytesVerifier.jws(open).build().verifyDetached(signed, new byte[10_000]);
            TestClock clock = TestClock.now();
            clock.advance(Duration.ofHours(1));
            TestIssuer test = TestIssuer.create("https://id.example", "api");
            Verifier remote = Verifier.builder(test.remoteKeys()).issuer("https://id.example").audience("api").build();
            remote.verify(test.issue("{}"));
        }
    }
}
