package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A verifier for several issuers, and what it reads from unverified tokens. */
class MultiIssuerVerifierTest {
    private static final String A = "https://a.example";
    private static final String B = "https://b.example";

    private final Key ofA = Key.generator(Algorithm.ES256).keyId("one").generate();
    private final Key ofB = Key.generator(Algorithm.ES256).keyId("one").generate();
    private final AtomicInteger requests = new AtomicInteger();

    private RemoteKeySet published(Key key) {
        return RemoteKeySet.at("https://id.example/jwks")
                .fetcher(request -> {
                    requests.incrementAndGet();
                    byte[] body = KeySet.of(key).toJwks().getBytes(StandardCharsets.UTF_8);
                    return new RemoteKeySet.Response(200, Map.of(), body);
                })
                .build();
    }

    private static Verifier.Builder policy(Verifier.Builder builder, String issuer) {
        return builder.issuer(issuer).audience("api");
    }

    private static String token(Key key, String issuer) {
        return Issuer.builder(key)
                .issuer(issuer)
                .audience("api")
                .lifetime(Duration.ofMinutes(1))
                .build()
                .issue(Map.of("sub", "u"));
    }

    private final MultiIssuerVerifier verifier = MultiIssuerVerifier.of(
            policy(Verifier.builder(published(ofA)), A).build(),
            policy(Verifier.builder(KeySet.of(ofB)), B).build());

    private ErrorCode code(String token) {
        return assertThrows(TokenRejectedException.class, () -> verifier.verify(token)).code();
    }

    @Test
    void issuer_selects_the_keys() {
        record Subject(String sub) {}
        for (String token : List.of(token(ofA, A), token(ofB, B))) {
            assertEquals("u", verifier.verify(token).subject().orElseThrow());
            assertEquals("u", verifier.verify(token, Subject.class).claims().sub());
            assertEquals("u", verifier.<Subject>verify(token, (java.lang.reflect.Type) Subject.class).claims().sub());
            assertInstanceOf(Verified.class, verifier.tryVerify(token, Subject.class));
        }
        assertEquals(1, requests.get());
    }

    @Test
    void key_of_one_issuer_does_not_sign_for_another() {
        assertEquals(ErrorCode.TOKEN_INVALID_SIGNATURE, code(token(ofB, A)));
        assertEquals(ErrorCode.TOKEN_INVALID_SIGNATURE, code(token(ofA, B)));
    }

    @Test
    void unknown_issuer_causes_no_request() {
        String token = token(ofA, "https://c.example");
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(token));
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(token(ofA, A + "/")));
        var rejected = assertInstanceOf(Verification.Rejected.class, verifier.tryVerify(token, Map.class));
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, rejected.code());
        assertEquals(0, requests.get());
    }

    @Test
    void tokens_without_a_readable_issuer_are_rejected() {
        String absent = Issuer.builder(ofA).lifetime(Duration.ofMinutes(1)).build().issue(Map.of());
        assertEquals(ErrorCode.TOKEN_INVALID_CLAIMS, code(absent));
        Key encryption = Key.generate(Algorithm.RSA_OAEP_256);
        String encrypted = Issuer.builder(ofA)
                .issuer(A)
                .lifetime(Duration.ofMinutes(1))
                .encryptTo(encryption.publicKey())
                .build()
                .issue(Map.of());
        assertEquals(ErrorCode.TOKEN_MALFORMED, code(encrypted));
        for (String malformed : List.of("", "x", "a.b.c", "\ud800", token(ofA, A) + ".")) {
            assertEquals(ErrorCode.TOKEN_MALFORMED, code(malformed));
        }
        assertEquals(ErrorCode.TOKEN_TOO_LARGE, code("x".repeat((2 << 20) + 1)));
        String twice = part("{\"alg\":\"ES256\"}") + "." + part("{\"iss\":\"" + A + "\",\"iss\":\"" + B + "\"}") + ".";
        assertEquals(ErrorCode.TOKEN_DUPLICATE_MEMBER, code(twice));
        var missing = assertThrows(JetonException.class, () -> verifier.verify(null));
        assertEquals(ErrorCode.ARGUMENT_NULL, missing.code());
        assertEquals(0, requests.get());
    }

    /** Reading them takes seconds, or throws an exception of Java. Anyone can write such a token. */
    @Test
    void numbers_that_java_cannot_read_do_not_matter() {
        Issuer issuer = Issuer.builder(ofB).issuer(B).audience("api").lifetime(Duration.ofMinutes(1)).build();
        for (String number : List.of("1e9999999999", "-1E-9999999999", "1" + "0".repeat(1_000_000))) {
            String token = issuer.issueJson("{\"sub\":\"u\",\"x\":[" + number + "]}");
            VerifiedToken verified = verifier.verify(token);
            assertEquals("u", verified.subject().orElseThrow());
            for (Executable reads : List.<Executable>of(verified::toMap, () -> UnverifiedToken.read(token))) {
                var refused = assertThrows(TokenRejectedException.class, reads);
                assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, refused.code());
                assertTrue(refused.getMessage().contains("4300"), refused.getMessage());
            }
            String forged = part("{\"alg\":\"ES256\"}") + "." + part("{\"iss\":\"c\",\"x\":" + number + "}") + ".";
            assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(forged));
        }
    }

    @Test
    void keys_of_another_issuer_may_be_missing() {
        RemoteKeySet none = RemoteKeySet.at("https://id.example/jwks")
                .fetcher(request -> {
                    throw new IOException("no network");
                })
                .build();
        MultiIssuerVerifier half = MultiIssuerVerifier.of(
                policy(Verifier.builder(none), A).build(), policy(Verifier.builder(ofB), B).build());
        assertThrows(KeySetException.class, () -> half.verify(token(ofA, A)));
        assertEquals("u", half.verify(token(ofB, B)).subject().orElseThrow());
    }

    @Test
    void each_issuer_has_its_own_policy() {
        MultiIssuerVerifier two = MultiIssuerVerifier.of(
                policy(Verifier.builder(ofA), A).build(),
                Verifier.builder(ofB).issuer(B).audience("other").build());
        assertEquals("u", two.verify(token(ofA, A)).subject().orElseThrow());
        var rejected = assertThrows(TokenRejectedException.class, () -> two.verify(token(ofB, B)));
        assertEquals(ErrorCode.TOKEN_AUDIENCE_MISMATCH, rejected.code());
    }

    private static JetonException refused(Verifier... verifiers) {
        return assertThrows(JetonException.class, () -> MultiIssuerVerifier.of(verifiers));
    }

    @Test
    void mistakes_are_refused_when_it_is_built() {
        Verifier a = policy(Verifier.builder(ofA), A).build();
        JetonException twice = refused(a, policy(Verifier.builder(ofB), A).build());
        assertEquals(ErrorCode.ISSUER_TWICE, twice.code());
        assertEquals("the issuer `" + A + "` is added twice", twice.getMessage());
        JetonException any = refused(a, Verifier.builder(ofB).anyIssuer().audience("api").build());
        assertEquals(ErrorCode.ISSUER_NOT_CHOSEN, any.code());
        JetonException encrypted =
                refused(policy(Verifier.builder(ofB), B).decryptWith(Key.generate(Algorithm.RSA_OAEP_256)).build());
        assertEquals(
                "option `decryptWith`: a verifier for several issuers verifies signed JWTs only", encrypted.getMessage());
        JetonException paseto = refused(policy(Verifier.builder(Key.generate(Algorithm.V4_PUBLIC)), B).build());
        assertEquals("option `paseto`: a verifier for several issuers verifies signed JWTs only", paseto.getMessage());
        assertEquals(ErrorCode.ARGUMENT_NULL, refused((Verifier) null).code());
        assertEquals("pass at least one verifier", refused().getMessage());
    }

    private static String part(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void unverified_token_has_header_and_claims() {
        String token = token(ofA, A);
        UnverifiedToken read = UnverifiedToken.read(token.substring(0, token.lastIndexOf('.') + 1) + "AAAA");
        assertEquals(Map.of("alg", "ES256", "kid", "one", "typ", "JWT"), read.header().orElseThrow());
        assertEquals("u", read.claims().orElseThrow().get("sub"));
        assertEquals(A, read.issuer().orElseThrow());
        assertTrue(read.footer().isEmpty());
        assertEquals("UnverifiedToken", read.toString());
    }

    @Test
    void unverified_claims_are_empty_if_they_are_encrypted() {
        Key key = Key.generator(Algorithm.DIR).contentEncryption("A256GCM").generate();
        String token = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).build().issue(Map.of("sub", "u"));
        UnverifiedToken read = UnverifiedToken.read(token);
        assertEquals("dir", read.header().orElseThrow().get("alg"));
        assertTrue(read.claims().isEmpty() && read.issuer().isEmpty());
    }

    @Test
    void unverified_paseto_has_a_footer() {
        Issuer.Builder issuer = Issuer.builder(Key.generate(Algorithm.V4_PUBLIC)).lifetime(Duration.ofMinutes(1));
        UnverifiedToken read = UnverifiedToken.read(issuer.issuer(A).footer("f").build().issue(Map.of()));
        assertEquals("f", read.footer().orElseThrow());
        assertEquals(A, read.issuer().orElseThrow());
        assertTrue(read.header().isEmpty());
        assertFalse(read.claims().isEmpty());
    }
}
