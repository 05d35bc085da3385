package io.github.jeton.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.Algorithm;
import io.github.jeton.ErrorCode;
import io.github.jeton.Issuer;
import io.github.jeton.JetonException;
import io.github.jeton.Key;
import io.github.jeton.Verifier;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A panic in the native library is an exception, and the next call works. */
class PanicTest {
    @Test
    void panic_becomes_an_exception() {
        Key key = Key.generate(Algorithm.HS256);
        Issuer issuer = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).build();
        Verifier verifier = Verifier.builder(key).anyIssuer().anyAudience().build();
        String token = issuer.issueJson("{}");
        List<Executable> calls = List.of(
                () -> Key.generate(Algorithm.ES256),
                key::thumbprint,
                () -> issuer.issueJson("{}"),
                () -> verifier.verify(token),
                () -> verifier.tryVerify(token, Object.class));
        for (Executable call : calls) {
            Native.testPanicNext();
            assertEquals(ErrorCode.INTERNAL, assertThrows(JetonException.class, call).code());
            assertNotNull(verifier.verify(issuer.issueJson("{}")));
        }
    }

    /** Lengths that Java never passes. */
    @Test
    void wrong_length_is_an_error() {
        byte[] text = "{}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
        for (int length : new int[] {-1, 3, 100, 1 << 16, Integer.MAX_VALUE}) {
            byte[] reply = Native.newRemoteKeys(text, length);
            assertEquals(ErrorCode.ARGUMENT_LENGTH, Reply.reason(reply).code());
        }
        assertEquals(ErrorCode.ARGUMENT_NULL, Reply.reason(Native.newRemoteKeys(null, 0)).code());
        assertEquals(ErrorCode.ARGUMENT_NULL, Reply.reason(Native.publicKey(0)).code());
        assertEquals(ErrorCode.INTERNAL, Reply.reason(Native.release(99, 0)).code());
    }
}
