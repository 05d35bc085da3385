package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Private keys that stay in a PKCS#11 token, here of SoftHSM. */
class ProviderKeyTest {
    private static Provider provider;

    /** Creates a token. The POM sets the variable with the file of settings. */
    @BeforeAll
    static void open_token() throws Exception {
        Path library = Stream.of("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so")
                .map(Path::of)
                .filter(Files::exists)
                .findFirst()
                .orElse(null);
        assumeTrue(library != null, "SoftHSM is not installed");
        Path settings = Path.of(System.getenv("SOFTHSM2_CONF"));
        Path tokens = Files.createTempDirectory(settings.getParent(), "softhsm");
        Files.writeString(settings, "directories.tokendir = " + tokens + "\nlog.level = ERROR\n");
        Process tool = new ProcessBuilder(
                        "softhsm2-util", "--init-token", "--free", "--label", "jeton", "--pin", "1234", "--so-pin", "1234")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertEquals(0, tool.waitFor());
        Path configuration = Files.writeString(settings.resolveSibling("pkcs11.cfg"), """
                name = SoftHSM
                library = %s
                slotListIndex = 0
                attributes(generate, CKO_PRIVATE_KEY, *) = {
                  CKA_SENSITIVE = true
                  CKA_EXTRACTABLE = false
                }
                """.formatted(library));
        provider = Security.getProvider("SunPKCS11").configure(configuration.toString());
        Security.addProvider(provider);
        java.security.KeyStore.getInstance("PKCS11", provider).load(null, "1234".toCharArray());
    }

    private static KeyPair pair(String name, String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(name, provider);
        if (curve != null) {
            generator.initialize(new ECGenParameterSpec(curve));
        } else {
            generator.initialize(2048);
        }
        KeyPair pair = generator.generateKeyPair();
        assertNull(pair.getPrivate().getEncoded());
        return pair;
    }

    private static Issuer.Builder builder(KeyPair pair, Algorithm algorithm) {
        return Issuer.builder(Key.of(pair.getPublic(), algorithm))
                .issuer("https://id.example")
                .audience("api")
                .lifetime(Duration.ofMinutes(1));
    }

    private static void check(KeyPair pair, Algorithm algorithm, Issuer issuer) {
        Verifier verifier = Verifier.builder(Key.of(pair.getPublic(), algorithm))
                .issuer("https://id.example")
                .audience("api")
                .build();
        assertEquals("u", verifier.verify(issuer.issue(Map.of("sub", "u"))).subject().orElseThrow());
        assertEquals("v", verifier.verify(issuer.issueJson("{\"sub\":\"v\"}")).subject().orElseThrow());
    }

    @Test
    void private_key_of_a_provider_issues_tokens() throws Exception {
        KeyPair ec = pair("EC", "secp256r1");
        check(ec, Algorithm.ES256, builder(ec, Algorithm.ES256).signWith(ec.getPrivate()).build());
        KeyPair larger = pair("EC", "secp384r1");
        check(larger, Algorithm.ES384, builder(larger, Algorithm.ES384).signWith(larger.getPrivate(), provider).build());
        KeyPair rsa = pair("RSA", null);
        for (Algorithm algorithm : new Algorithm[] {Algorithm.RS256, Algorithm.RS512, Algorithm.PS256, Algorithm.PS384}) {
            check(rsa, algorithm, builder(rsa, algorithm).signWith(rsa.getPrivate()).build());
        }
    }

    @Test
    void keys_of_the_jdk_also_sign_with_their_provider() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        for (Algorithm algorithm : new Algorithm[] {Algorithm.EDDSA, Algorithm.ED25519}) {
            check(pair, algorithm, builder(pair, algorithm).signWith(pair.getPrivate()).build());
        }
    }

    @Test
    void issuer_is_shared_between_threads() throws Exception {
        KeyPair pair = pair("EC", "secp256r1");
        Issuer issuer = builder(pair, Algorithm.ES256).signWith(pair.getPrivate()).build();
        Callable<Void> work = () -> {
            check(pair, Algorithm.ES256, issuer);
            return null;
        };
        var threads = Executors.newFixedThreadPool(4);
        try {
            for (Future<Void> done : threads.invokeAll(IntStream.range(0, 40).mapToObj(each -> work).toList())) {
                done.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void key_without_encoding_is_refused_where_it_is_imported() throws Exception {
        PrivateKey key = pair("EC", "secp256r1").getPrivate();
        var refused = assertThrows(JetonException.class, () -> Key.of(key, Algorithm.ES256));
        assertEquals(ErrorCode.KEY_UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains("`Issuer.Builder.signWith`"), refused::getMessage);
    }

    @Test
    void key_that_cannot_sign_is_refused_when_the_issuer_is_built() throws Exception {
        KeyPair ec = pair("EC", "secp256r1");
        KeyPair rsa = pair("RSA", null);
        var wrongKey = assertThrows(
                JetonException.class, () -> builder(ec, Algorithm.ES256).signWith(rsa.getPrivate()).build());
        assertEquals(ErrorCode.KEY_TYPE_MISMATCH, wrongKey.code());
        assertTrue(wrongKey.getMessage().contains("ES256"), wrongKey::getMessage);
        KeyPair edwards = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        var wrongProvider = assertThrows(
                JetonException.class,
                () -> builder(edwards, Algorithm.EDDSA).signWith(edwards.getPrivate(), provider).build());
        assertTrue(wrongProvider.getMessage().contains("SoftHSM"), wrongProvider::getMessage);
        Key own = Key.generate(Algorithm.ES256);
        var notPublic = assertThrows(
                JetonException.class, () -> Issuer.builder(own).signWith(ec.getPrivate()).build());
        assertEquals("option `signWith`: needs an issuer with a public key, found a private key", notPublic.getMessage());
        var twice = assertThrows(
                JetonException.class,
                () -> builder(ec, Algorithm.ES256).signWith(ec.getPrivate()).signWith(ec.getPrivate()));
        assertEquals(ErrorCode.INVALID_OPTION, twice.code());
    }

    @Test
    void signature_of_another_key_is_not_issued() throws Exception {
        KeyPair pair = pair("EC", "secp256r1");
        Issuer issuer = builder(pair, Algorithm.ES256).signWith(pair("EC", "secp256r1").getPrivate()).build();
        var invalid = assertThrows(JetonException.class, () -> issuer.issueJson("{}"));
        assertEquals(ErrorCode.SIGNER_SIGNATURE_INVALID, invalid.code());
    }
}
