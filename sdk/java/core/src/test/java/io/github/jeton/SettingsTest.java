package io.github.jeton;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import io.github.jeton.bytes.Serialization;
import io.github.jeton.testing.TestIssuer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settings that are set twice, and defaults of a test issuer. */
class SettingsTest {
    private final Key key = Key.generate(Algorithm.ES256);
    private final Key encryption = Key.generate(Algorithm.of("ECDH-ES"));
    private final String token = Issuer.builder(key)
            .issuer("i")
            .audience("a")
            .lifetime(Duration.ofMinutes(1))
            .build()
            .issueJson("{\"page\":\"/\"}");

    private Verifier.Builder verifier() {
        return Verifier.builder(key).issuer("i").audience("a");
    }

    private static ErrorCode code(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(JetonException.class, call).code();
    }

    @Test
    void required_claims_add_up() {
        assertEquals(ErrorCode.TOKEN_INVALID_CLAIMS, code(() -> verifier().require("nope").require("page").build().verify(token)));
        assertEquals(ErrorCode.TOKEN_INVALID_CLAIMS, code(() -> verifier().require("page").require("nope").build().verify(token)));
        assertEquals("i", verifier().require("page").require().require("page", "iss").build().verify(token).issuer().orElseThrow());
        assertEquals("i", verifier().require().require("page").build().verify(token).issuer().orElseThrow());
    }

    /** A second issuer must not replace the first. */
    @Test
    void second_issuer_is_an_error() {
        Verifier.Builder builder = Verifier.builder(key).issuer("good");
        JetonException failure = assertThrows(JetonException.class, () -> builder.issuer("evil"));
        assertEquals(ErrorCode.INVALID_OPTION, failure.code());
        assertEquals("option `issuer`: already set: pass all values in one call", failure.getMessage());
        assertEquals(ErrorCode.INVALID_OPTION, code(() -> builder.issuers(List.of("evil"))));
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(() -> builder.audience("a").build().verify(token)));
    }

    /** A caller knows methods, and not the settings of the native library. */
    @Test
    void message_names_methods() {
        Key paseto = Key.generate(Algorithm.V4_PUBLIC);
        RemoteKeySet remote = RemoteKeySet.at("https://id.example/jwks.json").build();
        Map<String, org.junit.jupiter.api.function.Executable> messages = Map.of(
                "option `issuer`: required unless `anyIssuer` is set",
                () -> Verifier.builder(key).anyAudience().build(),
                "option `types`: does not apply to a PASETO",
                () -> Verifier.builder(paseto).anyIssuer().anyAudience().types("x").build(),
                "option `type`: does not apply to a PASETO",
                () -> Issuer.builder(paseto).type("x").build(),
                "option `encryptTo`: does not apply to a PASETO",
                () -> Issuer.builder(paseto).encryptTo(encryption).build(),
                "option `decryptWith`: not used with a remote key set",
                () -> Verifier.builder(remote)
                        .anyIssuer()
                        .anyAudience()
                        .decryptWith(encryption)
                        .build(),
                "option `maxTokenBytes`: must be 0 or more: -1",
                () -> Verifier.builder(key).maxTokenBytes(-1),
                "option `contentType`: not used with this key",
                () -> BytesIssuer.jws(key.publicKey()).contentType("x").build(),
                "a PASETO key cannot sign a JWS",
                () -> BytesIssuer.jws(paseto).build());
        messages.forEach((expected, call) ->
                assertEquals(expected, assertThrows(JetonException.class, call).getMessage()));
    }

    /** Methods for texts or keys, in every builder. For the listed methods, the last value counts. */
    @Test
    void second_value_is_an_error_in_every_builder() throws Exception {
        List<Object> builders = List.of(
                Issuer.builder(key),
                Verifier.builder(key),
                RemoteKeySet.at("https://id.example/jwks.json"),
                BytesIssuer.jws(key),
                BytesVerifier.jws(key),
                Key.generator(Algorithm.ES256),
                Key.importer());
        List<String> lastCounts = List.of("require", "clock", "mapper", "fetcher", "executor");
        List<String> wrong = new ArrayList<>();
        int checked = 0;
        for (Object builder : builders) {
            for (Method method : builder.getClass().getMethods()) {
                boolean isSetting = method.getReturnType() == builder.getClass() && method.getParameterCount() > 0;
                if (!isSetting || lastCounts.contains(method.getName())) {
                    continue;
                }
                Object[] values = new Object[method.getParameterCount()];
                for (int at = 0; at < values.length; at++) {
                    values[at] = value(method.getParameterTypes()[at]);
                }
                if (values[0] instanceof Integer || values[0] instanceof Duration) {
                    continue;
                }
                checked++;
                try {
                    method.invoke(builder, values);
                    method.invoke(builder, values);
                    wrong.add(method.toString());
                } catch (InvocationTargetException thrown) {
                    if (!(thrown.getCause() instanceof JetonException failure)
                            || failure.code() != ErrorCode.INVALID_OPTION) {
                        wrong.add(method + ": " + thrown.getCause());
                    }
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertEquals(true, checked > 25, checked + " settings");
    }

    private Object value(Class<?> type) throws Exception {
        return Map.<Class<?>, Object>ofEntries(
                        entry(String.class, "text"),
                        entry(String[].class, new String[] {"text"}),
                        entry(List.class, List.of("text")),
                        entry(Map.class, Map.of("x5t", "text")),
                        entry(int.class, 1),
                        entry(Duration.class, Duration.ofSeconds(1)),
                        entry(Key.class, encryption),
                        entry(KeySet.class, KeySet.of(encryption)),
                        entry(Algorithm.class, Algorithm.ES256),
                        entry(PrivateKey.class, KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate()),
                        entry(Provider.class, Security.getProviders()[0]),
                        entry(Serialization.class, Serialization.COMPACT))
                .get(type);
    }

    @Test
    void test_issuer_lets_its_settings_be_replaced() {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        String usual = issuer.issue("{}");
        String other = issuer.issuer().issuer("https://other.example").audiences(List.of("x", "y")).build().issueJson("{}");
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(() -> issuer.verifier().build().verify(other)));
        assertEquals(ErrorCode.TOKEN_AUDIENCE_MISMATCH, code(() -> issuer.verifier().anyIssuer().build().verify(other)));
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(() -> issuer.verifier().anyAudience().build().verify(other)));
        issuer.verifier().anyIssuer().anyAudience().build().verify(other);
        Verifier of = issuer.verifier().issuer("https://other.example").audience("y").build();
        of.verify(other);
        assertEquals(ErrorCode.TOKEN_ISSUER_MISMATCH, code(() -> of.verify(usual)));
        issuer.verifier().issuers(List.of("https://other.example", "https://id.example")).sharedKeys().audiences(List.of("api")).build().verify(usual);

        String endless = issuer.issuer().withoutExpiry().build().issueJson("{}");
        assertEquals(ErrorCode.TOKEN_INVALID_CLAIMS, code(() -> issuer.verifier().build().verify(endless)));
        assertEquals(true, issuer.verifier().withoutExpiry().build().verify(endless).expiresAt().isEmpty());
        String brief = issuer.issuer().lifetime(Duration.ofSeconds(5)).build().issueJson("{}");
        issuer.clock().advance(Duration.ofSeconds(6));
        assertEquals(ErrorCode.TOKEN_EXPIRED, code(() -> issuer.verifier().build().verify(brief)));
        // A value that the test sets itself is not replaced.
        assertEquals(ErrorCode.INVALID_OPTION, code(() -> issuer.verifier().issuer("a").issuer("b")));
        assertEquals(ErrorCode.INVALID_OPTION, code(() -> issuer.verifier().issuer("a").anyIssuer().build()));
        assertEquals(
                ErrorCode.INVALID_OPTION,
                code(() -> issuer.issuer().lifetime(Duration.ofSeconds(5)).withoutExpiry().build()));
    }
}
