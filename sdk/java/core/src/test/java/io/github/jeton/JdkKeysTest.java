package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.Map;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys of the JDK in both directions. */
class JdkKeysTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    static Path folder;

    private static KeyStore store;

    /** The JDK creates certificates with its tool only. */
    @BeforeAll
    static void create_store() throws Exception {
        Path file = folder.resolve("store.p12");
        Process tool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                        "-genkeypair", "-alias", "signer", "-keyalg", "EC", "-groupname", "secp256r1",
                        "-dname", "CN=id.example", "-keystore", file.toString(), "-storepass", "changeit")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertEquals(0, tool.waitFor());
        store = KeyStore.getInstance(file.toFile(), PASSWORD);
        store.setCertificateEntry("trusted", store.getCertificate("signer"));
        store.setEntry(
                "secret",
                new KeyStore.SecretKeyEntry(new SecretKeySpec(new byte[32], "HmacSHA256")),
                new KeyStore.PasswordProtection(PASSWORD));
    }

    private static KeyPair pair(String name, String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(name);
        if (curve != null) {
            generator.initialize(new ECGenParameterSpec(curve));
        }
        return generator.generateKeyPair();
    }

    private static void checkTrust(Key signs, Key verifies) {
        Issuer issuer = Issuer.builder(signs).issuer("https://id.example").audience("api").lifetime(Duration.ofMinutes(1)).build();
        Verifier verifier = Verifier.builder(verifies).issuer("https://id.example").audience("api").build();
        assertEquals("u", verifier.verify(issuer.issue(Map.of("sub", "u"))).subject().orElseThrow());
    }

    @Test
    void key_pairs_of_the_jdk_are_imported_and_exported() throws Exception {
        KeyPair rsa = pair("RSA", null);
        Map<Algorithm, KeyPair> pairs = Map.of(
                Algorithm.RS256, rsa,
                Algorithm.PS512, rsa,
                Algorithm.ES256, pair("EC", "secp256r1"),
                Algorithm.ES384, pair("EC", "secp384r1"),
                Algorithm.ES512, pair("EC", "secp521r1"),
                Algorithm.EDDSA, pair("Ed25519", null),
                Algorithm.ED25519, pair("Ed25519", null));
        pairs.forEach((algorithm, pair) -> {
            Key publicKey = Key.of(pair.getPublic(), algorithm);
            checkTrust(Key.of(pair.getPrivate(), algorithm), publicKey);
            assertEquals(pair.getPublic(), publicKey.toPublicKey(), algorithm::toString);
            assertEquals(pair.getPublic(), Key.of(pair.getPrivate(), algorithm).toPublicKey(), algorithm::toString);
        });
        for (KeyPair pair : new KeyPair[] {pair("EC", "secp256r1"), pair("X25519", null)}) {
            assertEquals(pair.getPublic(), Key.of(pair.getPublic(), Algorithm.ECDH_ES).toPublicKey());
        }
    }

    @Test
    void secret_keys_of_the_jdk_are_imported() {
        byte[] secret = new byte[32];
        Key key = Key.of(new SecretKeySpec(secret, "HmacSHA256"), Algorithm.HS256);
        checkTrust(key, Key.ofSecret(secret, Algorithm.HS256));
        var symmetric = assertThrows(JetonException.class, key::toPublicKey);
        assertTrue(symmetric.code().name().startsWith("KEY_"), symmetric::toString);
    }

    /** JDK 24 is the first with ML-DSA. */
    @Test
    void key_that_no_provider_has_is_an_error() {
        Key key = Key.generate(Algorithm.ML_DSA_44);
        if (Runtime.version().feature() >= 24) {
            assertArrayEquals(key.toDer(), key.toPublicKey().getEncoded());
            return;
        }
        var unknown = assertThrows(JetonException.class, key::toPublicKey);
        assertEquals(ErrorCode.KEY_UNSUPPORTED, unknown.code());
        assertTrue(unknown.getMessage().contains("ML-DSA-44"), unknown::getMessage);
    }

    @Test
    void entries_of_a_key_store_are_imported() throws Exception {
        KeyImporter importer = Key.importer().algorithm(Algorithm.ES256).keyId("a");
        Key signs = importer.keyStore(store, "signer", PASSWORD);
        Key trusted = importer.keyStore(store, "trusted", null);
        assertEquals(Key.Kind.PRIVATE, signs.kind());
        assertEquals(Key.Kind.PUBLIC, trusted.kind());
        checkTrust(signs, trusted);
        checkTrust(signs, Key.of((X509Certificate) store.getCertificate("signer"), Algorithm.ES256));
        Key secret = Key.importer().algorithm(Algorithm.HS256).keyStore(store, "secret", PASSWORD);
        checkTrust(secret, Key.ofSecret(new byte[32], Algorithm.HS256));
    }

    @Test
    void mistakes_with_a_key_store_are_named() {
        KeyImporter importer = Key.importer().algorithm(Algorithm.ES256);
        var absent = assertThrows(JetonException.class, () -> importer.keyStore(store, "other", PASSWORD));
        assertEquals("option `alias`: the key store has no such entry", absent.getMessage());
        var wrong = assertThrows(
                JetonException.class, () -> importer.keyStore(store, "signer", "guess".toCharArray()));
        assertEquals(ErrorCode.KEY_NOT_DECRYPTED, wrong.code());
        assertFalse(wrong.getMessage().contains("guess"));
        for (var call : new org.junit.jupiter.api.function.Executable[] {
            () -> importer.keyStore(null, "signer", PASSWORD),
            () -> importer.keyStore(store, null, PASSWORD),
            () -> importer.key(null),
            () -> importer.certificate((X509Certificate) null)
        }) {
            assertEquals(ErrorCode.ARGUMENT_NULL, assertThrows(JetonException.class, call).code());
        }
    }

    @Test
    void import_does_not_change_the_key() throws Exception {
        KeyPair pair = pair("EC", "secp256r1");
        byte[] before = pair.getPrivate().getEncoded();
        Key.of(pair.getPrivate(), Algorithm.ES256);
        assertArrayEquals(before, pair.getPrivate().getEncoded());
    }
}
