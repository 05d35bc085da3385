package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.jeton.claims.ClaimsMapper;
import io.github.jeton.claims.StrictJackson;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Claims as objects: nothing is converted, and nothing is rounded. */
class StrictJacksonTest {
    /** Like the annotation of many libraries. */
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

    static final String GOOD =
            "{\"text\":\"t\",\"whole\":1,\"large\":9007199254740993,\"real\":1.5,\"flag\":true,\"list\":[\"a\"]}";

    /** Changes of these claims that do not match the record. */
    static final String[][] CHANGES = {
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
    };

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
        for (String[] change : CHANGES) {
            String json = GOOD.replace(change[0], change[1]);
            var rejected = assertThrows(TokenRejectedException.class, () -> read(json), json);
            assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, rejected.code());
        }
        assertThrows(
                TokenRejectedException.class,
                () -> verifier.verify(issuer.issueJson("{\"color\":0}"), Colored.class));
        // Member names are case-sensitive.
        assertNull(verifier.verify(issuer.issueJson("{\"COLOR\":\"RED\"}"), Colored.class).claims().color());
    }

    record Floats(float one, @Nullable Float boxed, float[] more) {}

    record Doubles(double one, @Nullable Double boxed, double[] more, List<Double> list, double[][] deep) {}

    record Moment(Instant at) {}

    record Maybe(Map<String, Optional<String>> names) {}

    record Page(String path, int number) {}

    record Visits(List<Page> pages, Map<String, Page> byName, @JsonProperty("odd name") @Nullable Page renamed) {}

    static class TwoArguments {
        TwoArguments(String one, String two) {}
    }

    record Unmade(TwoArguments value) {}

    record Checked(String name) {
        Checked {
            if (name.length() > 3) {
                throw new IllegalArgumentException(name);
            }
        }
    }

    private <T> T read(String json, Class<T> type) {
        return verifier.verify(issuer.issueJson(json), type).claims();
    }

    private static String floats(String number) {
        return "{\"one\":#,\"boxed\":#,\"more\":[#]}".replace("#", number);
    }

    private static String doubles(String number) {
        return "{\"one\":#,\"boxed\":#,\"more\":[#],\"list\":[#],\"deep\":[[#],[]]}".replace("#", number);
    }

    @Test
    void whole_numbers_are_not_rounded_wherever_they_are() {
        for (String[] row : new String[][] {
            {floats("1.5"), "16777217", "16777217.0", "1e39", "-1e39", "1.6777217e7", "9007199254740993", "null", "\"1\"", "true", "[1]"},
            {doubles("1.5"), "9007199254740993", "9007199254740993.0", "1e400", "1e9999999999", "9.007199254740993e15", "null", "\"1\"", "true", "[1]"}
        }) {
            for (int at = 1; at < row.length; at++) {
                int places = row[0].split("1\\.5", -1).length - 1;
                for (int place = 0; place < places; place++) {
                    String json = replaced(row[0], place, row[at]);
                    boolean isOptional = row[at].equals("null") && (place == 1 || place == 3);
                    if (isOptional) {
                        continue;
                    }
                    Class<?> type = row[0].contains("deep") ? Doubles.class : Floats.class;
                    var rejected = assertThrows(TokenRejectedException.class, () -> read(json, type), json);
                    assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, rejected.code());
                }
            }
        }
    }

    private static String replaced(String json, int place, String number) {
        int at = -1;
        for (int found = 0; found <= place; found++) {
            at = json.indexOf("1.5", at + 1);
        }
        return json.substring(0, at) + number + json.substring(at + 3);
    }

    @Test
    void numbers_that_are_exact_or_not_whole_are_read() {
        for (String number : List.of("0", "-0.0", "16777216", "1.6777216e7", "0.1", "-2.50", "1e20", "16777217.5", "1e-400", "1e-9999999999", "1.00000000000000000001")) {
            boolean isFloat = !number.equals("1e20");
            if (isFloat) {
                assertEquals(Float.parseFloat(number), read(floats(number), Floats.class).more()[0], number);
            }
            Doubles read = read(doubles(number), Doubles.class);
            assertEquals(Double.parseDouble(number), read.more()[0]);
            assertEquals(read.more()[0], read.deep()[0][0]);
            assertEquals(0, read.deep()[1].length);
        }
        assertEquals(9_007_199_254_740_992.0, read(doubles("9007199254740992.0"), Doubles.class).one());
    }

    @Test
    void type_that_jackson_cannot_map_is_not_a_rejection() {
        var instant = assertThrows(JetonException.class, () -> read("{\"at\":\"2026-01-01T00:00:00Z\"}", Moment.class));
        assertEquals(ErrorCode.INVALID_OPTION, instant.code());
        assertTrue(instant.getMessage().contains("java.time.Instant") && instant.getMessage().endsWith(" at `at`"), instant.toString());
        assertTrue(instant.getCause().getMessage().contains("jackson-datatype-jsr310"), instant.getCause().toString());

        var optional = assertThrows(JetonException.class, () -> read("{\"names\":{\"chosen\":\"secret\"}}", Maybe.class));
        assertEquals(ErrorCode.INVALID_OPTION, optional.code());
        assertTrue(optional.getMessage().endsWith(" at `names.*`"), optional.toString());
        var unmade = assertThrows(JetonException.class, () -> read("{\"value\":\"secret\"}", Unmade.class));
        assertEquals(ErrorCode.INVALID_OPTION, unmade.code());
        for (JetonException failure : List.of(instant, optional, unmade)) {
            var text = new StringWriter();
            failure.printStackTrace(new PrintWriter(text));
            assertFalse(text.toString().contains("chosen") || text.toString().contains("secret"), text.toString());
            assertFalse(text.toString().contains("2026-01-01"), text.toString());
        }
        assertEquals(
                ErrorCode.INVALID_OPTION,
                assertThrows(JetonException.class, () -> verifier.tryVerify(issuer.issueJson("{\"at\":1}"), Moment.class)).code());
        var written = assertThrows(JetonException.class, () -> issuer.issue(new Moment(Instant.EPOCH)));
        assertEquals(ErrorCode.CLAIMS_NOT_SERIALIZABLE, written.code());
        assertTrue(written.getMessage().endsWith("Jackson cannot write java.time.Instant"), written.getMessage());
    }

    /** Only names of the program: the token chooses the keys of a map. */
    @Test
    void rejection_names_the_component() {
        String page = "{\"path\":\"/\",\"number\":1}";
        String wrong = "{\"path\":\"/\",\"number\":\"secret\"}";
        for (String[] row : new String[][] {
            {"{\"pages\":[],\"byName\":7}", "byName"},
            {"{\"pages\":[" + page + "," + wrong + "],\"byName\":{}}", "pages[].number"},
            {"{\"pages\":[{\"number\":1}],\"byName\":{}}", "pages[].path"},
            {"{\"pages\":[],\"byName\":{\"chosen\":" + wrong + "}}", "byName.*.number"},
            {"{\"pages\":[],\"byName\":{},\"odd name\":" + wrong + "}", "odd name.number"},
            {"{\"pages\":[]}", "byName"},
            {"{\"pages\":null,\"byName\":{}}", "pages"},
        }) {
            var rejected = assertThrows(TokenRejectedException.class, () -> read(row[0], Visits.class), row[0]);
            assertEquals("the claims do not match " + Visits.class.getTypeName() + " at `" + row[1] + "`", rejected.getMessage());
            assertNull(rejected.getCause());
        }
        var checked = assertThrows(TokenRejectedException.class, () -> read("{\"name\":\"secret\"}", Checked.class));
        assertFalse(checked.getMessage().contains("secret"));
    }

    /** With this setting, Jackson quotes the claims in its messages. */
    @Test
    void mapper_of_the_program_quotes_no_claims() {
        Verifier own = Verifier.builder(key)
                .anyIssuer()
                .anyAudience()
                .mapper(StrictJackson.with(JsonMapper.builder()
                        .enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                        .build()))
                .build();
        String token = issuer.issueJson("{\"at\":\"secret\"}");
        var failure = assertThrows(JetonException.class, () -> own.verify(token, Moment.class));
        var text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        assertFalse(text.toString().contains("secret"), text.toString());
        assertEquals(ErrorCode.INVALID_OPTION, failure.code());
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

    /** Another JSON library replaces Jackson. */
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
