package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The example of the README. */
class ExampleTest {
    record Visit(String page) {}

    @Test
    void readme_example_runs() {
        var key = Key.generate(Algorithm.ES256);
        var issuer = Issuer.builder(key)
                .issuer("https://id.example")
                .audience("api")
                .lifetime(Duration.ofMinutes(15))
                .build();
        String token = issuer.issue(new Visit("/"));

        var verifier = Verifier.builder(key.publicKey()).issuer("https://id.example").audience("api").build();
        Verified<Visit> verified = verifier.verify(token, Visit.class);
        assertEquals("/", verified.claims().page());
        assertEquals("https://id.example", verified.issuer().orElseThrow());
        assertEquals(Algorithm.ES256, verified.algorithm());
        long left = Duration.between(Instant.now(), verified.expiresAt().orElseThrow()).toSeconds();
        assertEquals(900, left, 5);

        var other = Verifier.builder(key.publicKey()).issuer("https://id.example").audience("other").build();
        var rejected = assertThrows(TokenRejectedException.class, () -> other.verify(token));
        assertEquals(ErrorCode.TOKEN_AUDIENCE_MISMATCH, rejected.code());
    }
}
