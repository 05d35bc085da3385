package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.bytes.BytesIssuer;
import io.github.jeton.bytes.BytesVerifier;
import io.github.jeton.bytes.Serialization;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.testing.TestClock;
import io.github.jeton.testing.TestIssuer;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Invalid input causes an exception of this library, and never a crash. */
class BadInputTest {
    private final Key key = Key.generator(Algorithm.ES256).keyId("a").generate();

    private Issuer issuer() {
        return Issuer.builder(key).issuer("i").audience("a").lifetime(Duration.ofMinutes(1)).build();
    }

    private Verifier verifier() {
        return Verifier.builder(key).issuer("i").audience("a").build();
    }

    private static ErrorCode code(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(JetonException.class, call).code();
    }

    /** Objects whose methods are all called with null. */
    private List<Object> objects() {
        return List.of(
                key,
                Key.generator(Algorithm.ES256),
                Key.importer(),
                KeySet.of(key),
                Issuer.builder(key),
                issuer(),
                Verifier.builder(key),
                verifier(),
                Issuer.builder(key.publicKey()).withoutExpiry().build().prepareJson("{}"),
                BytesIssuer.jws(key),
                BytesIssuer.jws(key).build(),
                BytesVerifier.jws(key),
                BytesVerifier.jws(key).build(),
                RemoteKeySet.at("https://id.example/jwks.json"),
                TestClock.now(),
                TestIssuer.create("https://id.example", "api"));
    }

    private static final List<Class<?>> STATICS = List.of(
            Key.class,
            KeySet.class,
            Issuer.class,
            Verifier.class,
            RemoteKeySet.class,
            BytesIssuer.class,
            BytesVerifier.class,
            TestClock.class);

    @Test
    void null_is_an_error_with_a_code() throws Exception {
        List<String> wrong = new ArrayList<>();
        int calls = 0;
        for (Object object : objects()) {
            for (Method method : object.getClass().getDeclaredMethods()) {
                calls += callWithNull(object, method, wrong);
            }
        }
        for (Class<?> type : STATICS) {
            for (Method method : type.getDeclaredMethods()) {
                calls += callWithNull(null, method, wrong);
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
        assertTrue(calls > 80, "only " + calls + " calls");
    }

    private static int callWithNull(Object object, Method method, List<String> wrong) throws Exception {
        boolean isCallable = Modifier.isPublic(method.getModifiers())
                && !method.isSynthetic()
                && Modifier.isStatic(method.getModifiers()) == (object == null)
                && !method.getName().equals("handleOf");
        if (!isCallable) {
            return 0;
        }
        int calls = 0;
        for (int at = 0; at < method.getParameterCount(); at++) {
            if (method.getParameterTypes()[at].isPrimitive()) {
                continue;
            }
            Object[] arguments = new Object[method.getParameterCount()];
            for (int other = 0; other < arguments.length; other++) {
                arguments[other] = other == at ? null : sample(method, other);
            }
            calls++;
            try {
                method.invoke(object, arguments);
                wrong.add(method + ": null is accepted");
            } catch (InvocationTargetException thrown) {
                if (!(thrown.getCause() instanceof JetonException failure)
                        || failure.code() != ErrorCode.ARGUMENT_NULL) {
                    wrong.add(method + ": " + thrown.getCause());
                }
            }
        }
        return calls;
    }

    private static Object sample(Executable method, int at) {
        Class<?> type = method.getParameterTypes()[at];
        if (type == int.class) {
            return 1;
        }
        if (type == String.class) {
            return "text";
        }
        if (type == byte[].class) {
            return new byte[32];
        }
        if (type == Algorithm.class) {
            return Algorithm.ES256;
        }
        if (type == Key.class) {
            return Key.generate(Algorithm.ES256);
        }
        return type == Class.class || type == java.lang.reflect.Type.class ? String.class : null;
    }

    @Test
    void closed_object_is_an_error() {
        Issuer issuer = issuer();
        Verifier verifier = verifier();
        String token = issuer.issueJson("{}");
        KeySet set = KeySet.of(key);
        PreparedToken prepared = Issuer.builder(key.publicKey()).withoutExpiry().build().prepareJson("{}");
        for (NativeObject object : List.of(issuer, verifier, set, prepared, key)) {
            object.close();
            object.close();
            assertTrue(object.toString().endsWith("(closed)"), object.toString());
        }
        List<org.junit.jupiter.api.function.Executable> calls = List.of(
                () -> issuer.issueJson("{}"),
                () -> issuer.prepareJson("{}"),
                () -> verifier.verify(token),
                () -> verifier.tryVerify(token, Object.class),
                set::toJwks,
                () -> Verifier.builder(set).issuer("i").audience("a").build(),
                prepared::message,
                key::publicKey,
                key::toJwk,
                () -> KeySet.of(Key.generate(Algorithm.ES256), key),
                () -> Issuer.builder(key).build());
        for (var call : calls) {
            assertEquals(ErrorCode.ARGUMENT_HANDLE, code(call));
        }
    }

    @Test
    void objects_outlive_the_key_that_made_them() {
        Issuer issuer = issuer();
        Verifier verifier = verifier();
        key.close();
        assertEquals("i", verifier.verify(issuer.issueJson("{}")).issuer().orElseThrow());
    }

    @Test
    void unpaired_surrogate_is_an_error() {
        String half = "\ud83d";
        assertEquals(ErrorCode.ARGUMENT_NOT_UTF8, code(() -> issuer().issueJson("{\"a\":\"" + half + "\"}")));
        assertEquals(ErrorCode.ARGUMENT_NOT_UTF8, code(() -> Key.of(half)));
        assertEquals(ErrorCode.ARGUMENT_NOT_UTF8, code(() -> KeySet.parse(half + half)));
        assertEquals(ErrorCode.ARGUMENT_NOT_UTF8, code(() -> Issuer.builder(key).issuer("\ude00").build()));
        assertEquals(ErrorCode.ARGUMENT_NOT_UTF8, code(() -> BytesVerifier.jws(key)
                .serialization(Serialization.GENERAL).build().verify("{" + half + "}")));
        // Jackson writes it as an escape, which the native library rejects.
        assertEquals(ErrorCode.CLAIMS_SYNTAX, code(() -> issuer().issue(java.util.Map.of("a", half))));
        String token = issuer().issueJson("{}");
        for (int at = 0; at < token.length(); at += 7) {
            String changed = token.substring(0, at) + half + token.substring(at + 1);
            assertTrue(code(() -> verifier().verify(changed)).name().startsWith("TOKEN_"));
        }
        // A complete pair is accepted.
        String whole = issuer().issueJson("{\"sub\":\"\ud83d\ude00\"}");
        assertEquals("\ud83d\ude00", verifier().verify(whole).subject().orElseThrow());
    }

    /** Cut to one byte, U+0165 would be the letter e. */
    @Test
    void characters_are_not_cut_to_bytes() {
        String token = issuer().issueJson("{}");
        String changed = token.replace('e', '\u0165');
        assertFalse(changed.equals(token));
        assertEquals(ErrorCode.TOKEN_MALFORMED, code(() -> verifier().verify(changed)));
    }

    @Test
    void nonsense_is_rejected() {
        List<String> tokens = List.of("", ".", "..", "...", "\0", "a.b.c", "{}", " ", "null", "\u00e9.\u00e9.\u00e9");
        for (String token : tokens) {
            assertThrows(TokenRejectedException.class, () -> verifier().verify(token), token);
        }
        for (String claims : List.of("", "[]", "1", "{", "{\"a\":1,\"a\":2}", "{\"exp\":\"x\"}", "\0")) {
            assertTrue(code(() -> issuer().issueJson(claims)).name().startsWith("CLAIM"), claims);
        }
        for (String text : List.of("", "{}", "k4.local.", "-----BEGIN", "\0")) {
            assertTrue(code(() -> Key.of(text)).name().startsWith("KEY_"), text);
        }
        assertEquals(ErrorCode.INVALID_OPTION, code(() -> Algorithm.of("none")));
        assertEquals(ErrorCode.KEY_TOO_WEAK, code(() -> Key.ofSecret(new byte[5], Algorithm.HS256)));
        assertEquals(ErrorCode.INVALID_OPTION, code(() -> Verifier.builder(key).audience("a").build()));
        assertEquals(
                ErrorCode.INVALID_OPTION,
                code(() -> Issuer.builder(key).lifetime(Duration.ofSeconds(-1))));
        assertEquals(
                ErrorCode.INVALID_OPTION,
                code(() -> Issuer.builder(key).lifetime(Duration.ofMillis(1500))));
        assertEquals(ErrorCode.CLAIMS_WITHOUT_EXPIRY, code(() -> Issuer.builder(key).build().issueJson("{}")));
    }

    @Test
    void large_input_is_an_error() {
        byte[] large = new byte[40 << 20];
        java.util.Arrays.fill(large, (byte) 'a');
        String text = new String(large, StandardCharsets.ISO_8859_1);
        assertEquals(ErrorCode.TOKEN_TOO_LARGE, code(() -> verifier().verify(text)));
        assertEquals(ErrorCode.KEY_TOO_LARGE, code(() -> Key.importer().bytes(large)));
        assertThrows(JetonException.class, () -> KeySet.parse(text));
        assertThrows(JetonException.class, () -> issuer().issueJson(text));
        assertThrows(JetonException.class, () -> Issuer.builder(key).issuer(text).build());
        assertNotNull(BytesIssuer.jws(key).detached().build().issue(large));
    }

    @Test
    void message_does_not_contain_the_input() {
        String secret = "a-secret-that-nobody-may-see-0123456789";
        List<org.junit.jupiter.api.function.Executable> calls = List.of(
                () -> Key.of(secret),
                () -> KeySet.parse(secret),
                () -> Key.importer().password(secret).text("{\"kty\":\"" + secret + "\"}"),
                () -> verifier().verify(secret + "." + secret + "." + secret),
                () -> issuer().issueJson("{\"" + secret + "\":"),
                () -> issuer().issue(new Object() {
                    @SuppressWarnings("unused")
                    public String getName() {
                        throw new IllegalStateException(secret);
                    }
                }),
                () -> verifier().verify(issuer().issueJson("{\"n\":\"" + secret + "\"}"), Numbered.class));
        for (var call : calls) {
            var failure = assertThrows(JetonException.class, call);
            var text = new java.io.StringWriter();
            failure.printStackTrace(new java.io.PrintWriter(text));
            assertFalse(text.toString().contains(secret), text.toString());
        }
        assertFalse(verifier().verify(issuer().issueJson("{\"sub\":\"" + secret + "\"}")).toString().contains(secret));
        assertFalse(key.toString().contains("ES256"));
    }

    record Numbered(int n) {}
}
