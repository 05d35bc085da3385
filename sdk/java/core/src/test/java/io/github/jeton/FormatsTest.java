package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import io.github.jeton.bytes.Serialization;
import io.github.jeton.testing.TestClock;
import io.github.jeton.testing.TestIssuer;
import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every format and every way to create a token. */
class FormatsTest {
    record Visit(String page) {}

    private static final byte[] DATA = "some bytes".getBytes(StandardCharsets.UTF_8);

    private static Issuer.Builder issuer(Key key) {
        return Issuer.builder(key).issuer("i").audience("a").lifetime(Duration.ofMinutes(1));
    }

    private static Verifier.Builder verifier(Key key) {
        return Verifier.builder(key).issuer("i").audience("a");
    }

    @Test
    void every_algorithm_issues_and_verifies() {
        for (Algorithm algorithm : Algorithm.values()) {
            boolean encrypts = algorithm.ordinal() >= Algorithm.DIR.ordinal() && !algorithm.isPaseto();
            if (encrypts) {
                continue;
            }
            Key key = Key.generate(algorithm);
            assertEquals(algorithm, key.algorithm());
            String token = issuer(key).build().issue(new Visit("/"));
            assertEquals("/", verifier(key).build().verify(token, Visit.class).claims().page());
            assertEquals(algorithm, verifier(key).build().verify(token).algorithm());
            if (key.kind() == Key.Kind.PRIVATE) {
                Key open = key.publicKey();
                assertEquals(Key.Kind.PUBLIC, open.kind());
                assertEquals(token, verifier(open).build().verify(token).issuer().map(i -> token).orElseThrow());
            }
        }
    }

    @Test
    void keys_are_exported_and_imported() {
        Key key = Key.generator(Algorithm.ES256).keyId("a").generate();
        assertEquals("a", key.keyId().orElseThrow());
        assertEquals(key.thumbprint(), Key.of(key.toJwk()).thumbprint());
        assertEquals(key.thumbprint(), Key.of(key.toPem(), Algorithm.ES256).thumbprint());
        assertEquals(key.thumbprint(), Key.importer().algorithm(Algorithm.ES256).bytes(key.toDer()).thumbprint());
        assertTrue(key.thumbprintUri().endsWith(key.thumbprint()));
        for (Key.Form form : List.of(Key.Form.JWK, Key.Form.PEM, Key.Form.DER)) {
            Key again = Key.importer().algorithm(Algorithm.ES256).bytes(key.insecureExport(form));
            assertEquals(Key.Kind.PRIVATE, again.kind());
            assertEquals(key.thumbprint(), again.thumbprint());
        }
        Key paseto = Key.generate(Algorithm.V4_PUBLIC);
        assertEquals(paseto.keyId(), Key.of(paseto.toPaserk()).keyId());
        assertEquals(Key.Kind.SYMMETRIC, Key.ofSecret(new byte[32], Algorithm.HS256).kind());
        assertEquals(
                Key.ofSecret(new byte[33], Algorithm.HS256).thumbprint(),
                Key.importer().algorithm(Algorithm.HS256).secretBase64("A".repeat(44)).thumbprint());
        assertEquals(
                ErrorCode.KEY_IS_PUBLIC,
                assertThrows(JetonException.class, () -> key.publicKey().insecureExport(Key.Form.JWK)).code());
    }

    @Test
    void key_sets_are_written_and_read() {
        Key first = Key.generator(Algorithm.ES256).keyId("a").generate();
        Key second = Key.generator(Algorithm.EDDSA).keyId("b").generate();
        KeySet set = KeySet.of(first, second);
        assertEquals(List.of("a", "b"), set.keyIds());
        KeySet published = KeySet.parsePublished(set.toJwks());
        Verifier verifier = Verifier.builder(published).issuer("i").audience("a").build();
        assertEquals("b", verifier.verify(issuer(second).build().issueJson("{}")).keyId().orElseThrow());
        KeySet mixed = KeySet.parse(set.toJwks().replace("\"EdDSA\"", "\"XYZ\""));
        assertEquals(1, mixed.skipped().size());
        assertEquals(List.of("a"), mixed.keyIds());
    }

    @Test
    void nested_and_encrypted_tokens() {
        Key signing = Key.generate(Algorithm.ES256);
        for (Algorithm algorithm : List.of(Algorithm.RSA_OAEP_256, Algorithm.ECDH_ES_A128KW, Algorithm.A256GCMKW)) {
            Key encryption = Key.generate(algorithm);
            Key open = encryption.kind() == Key.Kind.PRIVATE ? encryption.publicKey() : encryption;
            String token = issuer(signing).encryptTo(open, "A128GCM").build().issue(new Visit("/"));
            assertEquals(5, token.split("\\.").length);
            Verifier verifier = verifier(signing).decryptWith(encryption).contentEncryptions("A128GCM").build();
            assertEquals("/", verifier.verify(token, Visit.class).claims().page());
        }
        Key secret = Key.generator(Algorithm.DIR).contentEncryption("A256GCM").generate();
        String token = issuer(secret).build().issue(new Visit("/"));
        assertEquals("/", verifier(secret).build().verify(token, Visit.class).claims().page());
        // An id longer than the array that is offered.
        Key named = Key.generator(Algorithm.ES256).keyId("k".repeat(500)).generate();
        String longHeader = issuer(named).build().issueJson("{}");
        assertEquals(500, verifier(named).build().verify(longHeader).keyId().orElseThrow().length());
    }

    @Test
    void paseto_has_footer_and_assertion() {
        for (Algorithm algorithm :
                List.of(Algorithm.V3_LOCAL, Algorithm.V3_PUBLIC, Algorithm.V4_LOCAL, Algorithm.V4_PUBLIC)) {
            Key key = Key.generate(algorithm);
            String token = issuer(key).footer("f").implicitAssertion("x").build().issue(new Visit("/"));
            assertTrue(token.startsWith(algorithm.standardName() + "."));
            VerifiedToken verified =
                    verifier(key).footer("f").implicitAssertion("x").build().verify(token);
            assertArrayEquals(new byte[] {'f'}, verified.footer().orElseThrow());
            var rejected = assertThrows(
                    TokenRejectedException.class, () -> verifier(key).footer("f").build().verify(token));
            boolean isLocal = algorithm.standardName().endsWith("local");
            assertEquals(
                    isLocal ? ErrorCode.TOKEN_DECRYPTION_FAILED : ErrorCode.TOKEN_INVALID_SIGNATURE, rejected.code());
        }
    }

    @Test
    void bytes_are_signed_and_encrypted() {
        Key key = Key.generate(Algorithm.ES256);
        String compact = BytesIssuer.jws(key).contentType("text").build().issue(DATA);
        assertArrayEquals(DATA, BytesVerifier.jws(key).build().verify(compact));
        String detached = BytesIssuer.jws(key).detached().unencoded().build().issue(DATA);
        assertTrue(detached.contains(".."));
        assertArrayEquals(DATA, BytesVerifier.jws(key.publicKey()).build().verifyDetached(detached, DATA));
        for (Serialization form : List.of(Serialization.FLATTENED, Serialization.GENERAL)) {
            String json = BytesIssuer.jws(key).serialization(form).build().issue(DATA);
            assertArrayEquals(DATA, BytesVerifier.jws(key).serialization(form).build().verify(json));
            Key secret = Key.generate(Algorithm.A128KW);
            String encrypted = BytesIssuer.jwe(secret).serialization(form).build().issue(DATA);
            assertArrayEquals(DATA, BytesVerifier.jwe(secret).serialization(form).build().verify(encrypted));
        }
        for (Algorithm algorithm : List.of(Algorithm.V3_PUBLIC, Algorithm.V4_LOCAL)) {
            Key own = Key.generate(algorithm);
            String token = BytesIssuer.paseto(own).footer("f").implicitAssertion("x").build().issue(DATA);
            assertArrayEquals(DATA, BytesVerifier.paseto(own).footer("f").implicitAssertion("x").build().verify(token));
            BytesVerifier other = BytesVerifier.paseto(own).footer("g").implicitAssertion("x").build();
            assertThrows(TokenRejectedException.class, () -> other.verify(token));
        }
    }

    @Test
    void insecure_keys_have_a_name() {
        byte[] shortSecret = "short".getBytes(StandardCharsets.UTF_8);
        assertThrows(JetonException.class, () -> Key.ofSecret(shortSecret, Algorithm.HS256));
        Key weak = Key.importer().algorithm(Algorithm.HS256).insecureSecret(shortSecret);
        assertEquals("i", verifier(weak).build().verify(issuer(weak).build().issueJson("{}")).issuer().orElseThrow());
        Key password = Key.importer().algorithm(Algorithm.PBES2_HS256_A128KW).insecurePassword(DATA, 10_000);
        assertEquals(Algorithm.PBES2_HS256_A128KW, password.algorithm());
        String token = BytesIssuer.jwe(password).build().issue(DATA);
        assertArrayEquals(DATA, BytesVerifier.jwe(password).build().verify(token));
    }

    /** The JDK has the private key. */
    @Test
    void signature_is_made_in_two_steps() throws Exception {
        var generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        var pair = generator.generateKeyPair();
        Key open = Key.importer()
                .algorithm(Algorithm.ES256)
                .bytes(((ECPublicKey) pair.getPublic()).getEncoded());
        Issuer issuer = issuer(open).build();
        PreparedToken prepared = issuer.prepare(new Visit("/"));
        assertEquals(Algorithm.ES256, prepared.algorithm());
        assertEquals(32, prepared.digest().length);
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(pair.getPrivate());
        signature.update(prepared.message());
        String token = prepared.attachDer(signature.sign());
        assertEquals("/", verifier(open).build().verify(token, Visit.class).claims().page());

        PreparedToken other = issuer.prepareJson("{}");
        assertEquals(
                ErrorCode.SIGNER_SIGNATURE_INVALID,
                assertThrows(JetonException.class, () -> other.attach(new byte[64])).code());
        assertEquals(
                ErrorCode.PREPARED_TOKEN_USED,
                assertThrows(JetonException.class, () -> other.attach(new byte[64])).code());
    }

    @Test
    void bytes_are_signed_in_two_steps() throws Exception {
        var pair = java.security.KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        Key publicKey = Key.importer().algorithm(Algorithm.EDDSA).bytes(pair.getPublic().getEncoded());
        byte[] data = {0, 1, (byte) 0xff};
        PreparedToken prepared = BytesIssuer.jws(publicKey).type("x").build().prepare(data);
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(pair.getPrivate());
        signature.update(prepared.message());
        String token = prepared.attach(signature.sign());
        assertArrayEquals(data, BytesVerifier.jws(publicKey).build().verify(token));
        for (BytesIssuer.Builder other : List.of(
                BytesIssuer.jws(publicKey).detached(),
                BytesIssuer.jws(publicKey).unencoded(),
                BytesIssuer.jws(publicKey).contentType("text/plain"),
                BytesIssuer.jws(publicKey).serialization(Serialization.GENERAL),
                BytesIssuer.jws(Key.generate(Algorithm.ES256)))) {
            var failure = assertThrows(JetonException.class, () -> other.build().prepare(data));
            assertEquals(ErrorCode.INVALID_OPTION, failure.code());
        }
        BytesIssuer.jws(publicKey).serialization(Serialization.COMPACT).build().prepare(data).close();
    }

    @Test
    void cache_still_checks_the_time() {
        Key key = Key.generate(Algorithm.ES256);
        TestClock clock = TestClock.at(Instant.ofEpochSecond(1_800_000_000));
        String token = issuer(key).clock(clock).build().issueJson("{}");
        Verifier verifier = verifier(key).cache(100).clock(clock).build();
        for (int call = 0; call < 3; call++) {
            assertEquals("i", verifier.verify(token).issuer().orElseThrow());
        }
        clock.advance(Duration.ofMinutes(1));
        var rejected = assertThrows(TokenRejectedException.class, () -> verifier.verify(token));
        assertEquals(ErrorCode.TOKEN_EXPIRED, rejected.code());
        assertEquals(Instant.ofEpochSecond(1_800_000_060), clock.instant());
    }

    @Test
    void rejection_is_a_result() {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        Verifier verifier = issuer.verifier().build();
        String token = issuer.issue(Map.of("page", "/"));
        var verified = assertInstanceOf(Verified.class, verifier.tryVerify(token, Visit.class));
        assertEquals(new Visit("/"), verified.claims());
        issuer.clock().advance(Duration.ofHours(1));
        var rejected = assertInstanceOf(Verification.Rejected.class, verifier.tryVerify(token, Visit.class));
        assertEquals(ErrorCode.TOKEN_EXPIRED, rejected.code());
    }

    @Test
    void times_and_lists_are_read() {
        Key key = Key.generate(Algorithm.HS256);
        String json = "{\"iss\":\"i\",\"sub\":\"\\u00e9\\n\\\"\",\"aud\":[\"a\",\"b\\\\\",\"c\"],\"exp\":1900000000,"
                + "\"nbf\":1700000000,\"iat\":1700000001,\"jti\":\"\"}";
        Issuer issuer = Issuer.builder(key).build();
        VerifiedToken token = verifier(key)
                .clock(TestClock.at(Instant.ofEpochSecond(1_800_000_000)))
                .build()
                .verify(issuer.issueJson(json));
        assertEquals("\u00e9\n\"", token.subject().orElseThrow());
        assertEquals(List.of("a", "b\\", "c"), token.audiences());
        assertEquals(Instant.ofEpochSecond(1_900_000_000), token.expiresAt().orElseThrow());
        assertEquals(Instant.ofEpochSecond(1_700_000_000), token.notBefore().orElseThrow());
        assertEquals(Instant.ofEpochSecond(1_700_000_001), token.issuedAt().orElseThrow());
        assertEquals("", token.tokenId().orElseThrow());
        assertEquals(1_900_000_000L, token.toMap().get("exp"));
    }

    @Test
    void scopes_are_words_of_the_claim() {
        Key key = Key.generate(Algorithm.HS256);
        Issuer issuer = issuer(key).build();
        Verifier verifier = verifier(key).build();
        Map.of(
                        "\"read write\"", true,
                        "[\"a\",\"read\",7]", true,
                        "\"reading write\"", false,
                        "\"Read\"", false,
                        "\"\"", false,
                        "{\"read\":1}", false,
                        "7", false)
                .forEach((scope, has) -> {
                    VerifiedToken token = verifier.verify(issuer.issueJson("{\"scope\":" + scope + "}"));
                    assertEquals(has, token.hasScope("read"), scope);
                    assertFalse(token.hasScope(""), scope);
                    assertFalse(token.hasScope("read write"), scope);
                });
        assertFalse(verifier.verify(issuer.issueJson("{}")).hasScope("read"));
    }
}
