package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.core.type.TypeReference;
import io.github.jeton.claims.ClaimsMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Claims as objects: nothing is converted, and nothing is rounded. */
class StrictJacksonTest {
    /** As those of many libraries. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    @interface Nullable {}

    record Claims(
            String text, int whole, long large, double real, @Nullable Double realOrNull, boolean flag, List<String> list) {}

    enum Color {
        RED
    }

    record Colored(@Nullable Color color) {}

    private final Key key = Key.generate(Algorithm.HS256);
    private final Issuer issuer = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).build();
    private final Verifier verifier = Verifier.builder(key).anyIssuer().anyAudience().build();

    private static final String GOOD =
            "{\"text\":\"t\",\"whole\":1,\"large\":9007199254740993,\"real\":1.5,\"flag\":true,\"list\":[\"a\"]}";

    private Claims read(String json) {
        return verifier.verify(issuer.issueJson(json), Claims.class).claims();
    }

    @Test
    void claims_are_read_exactly() {
        Claims claims = read(GOOD);
        assertEquals(new Claims("t", 1, 9_007_199_254_740_993L, 1.5, null, true, List.of("a")), claims);
        assertNull(claims.realOrNull());
        assertEquals(9_007_199_254_740_992.0, read(GOOD.replace("1.5", "9007199254740992")).real());
        Claims again = verifier.verify(issuer.issue(claims), Claims.class).claims();
        assertEquals(claims, again);
    }

    @Test
    void nothing_is_converted() {
        for (String[] change : new String[][] {
            {"\"t\"", "1"},
            {"\"t\"", "true"},
            {"\"t\"", "1.5"},
            {"\"t\"", "[\"t\"]"},
            {"\"t\"", "null"},
            {"\"text\":\"t\",", ""},
            {"\"whole\":1", "\"whole\":\"1\""},
            {"\"whole\":1", "\"whole\":1.0"},
            {"\"whole\":1", "\"whole\":2147483648"},
            {"\"whole\":1", "\"whole\":null"},
            {"\"whole\":1,", ""},
            {"\"whole\"", "\"WHOLE\""},
            {"9007199254740993", "9223372036854775808"},
            {"1.5", "\"1.5\""},
            {"1.5", "9007199254740993"},
            {"1.5", "null"},
            {"true", "\"true\""},
            {"true", "1"},
            {"true", "null"},
            {"[\"a\"]", "\"a\""},
            {"[\"a\"]", "[1]"},
        }) {
            String json = GOOD.replace(change[0], change[1]);
            var rejected = assertThrows(TokenRejectedException.class, () -> read(json), json);
            assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, rejected.code());
        }
        assertThrows(
                TokenRejectedException.class,
                () -> verifier.verify(issuer.issueJson("{\"color\":0}"), Colored.class));
        // A member with another case is another member.
        assertNull(verifier.verify(issuer.issueJson("{\"COLOR\":\"RED\"}"), Colored.class).claims().color());
    }

    @Test
    void types_with_parameters_are_read() {
        Type type = new TypeReference<Map<String, Object>>() {}.getType();
        Verified<Map<String, Object>> verified =
                verifier.verify(issuer.issueJson("{\"a\":1.10,\"b\":18446744073709551616,\"c\":5}"), type);
        assertEquals(new BigDecimal("1.10"), verified.claims().get("a"));
        assertEquals(BigInteger.ONE.shiftLeft(64), verified.claims().get("b"));
        assertEquals(5, verified.claims().get("c"));
    }

    /** Another JSON library takes its place. */
    @Test
    void mapper_of_the_program_is_used() {
        ClaimsMapper mapper = new ClaimsMapper() {
            @Override
            public void write(Object claims, OutputStream to) throws IOException {
                byte[] json = ("{\"n\":" + claims + "}").getBytes(StandardCharsets.UTF_8);
                to.write(json, 0, 2);
                to.write(json[2]);
                to.write(json, 3, json.length - 3);
            }

            @Override
            public Object read(byte[] json, int start, int length, Type type) {
                return new String(json, start, length, StandardCharsets.UTF_8).contains("\"n\":7") ? 7 : null;
            }
        };
        Issuer own = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).mapper(mapper).build();
        Verifier reader = Verifier.builder(key).anyIssuer().anyAudience().mapper(mapper).build();
        assertEquals(7, reader.verify(own.issue(7), Integer.class).claims());
        assertThrows(TokenRejectedException.class, () -> reader.verify(own.issue(8), Integer.class));
    }
}
