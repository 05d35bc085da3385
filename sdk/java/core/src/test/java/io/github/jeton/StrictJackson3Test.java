package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.jeton.StrictJacksonTest.Claims;
import io.github.jeton.claims.StrictJackson3;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rules of {@link StrictJacksonTest}, with Jackson 3. */
class StrictJackson3Test {
    private final Key key = Key.generate(Algorithm.HS256);
    private final Issuer issuer = Issuer.builder(key)
            .lifetime(Duration.ofMinutes(1))
            .mapper(new StrictJackson3())
            .build();
    private final Verifier verifier = Verifier.builder(key)
            .anyIssuer()
            .anyAudience()
            .mapper(new StrictJackson3())
            .build();

    private <T> T read(String json, Class<T> type) {
        return verifier.verify(issuer.issueJson(json), type).claims();
    }

    @Test
    void claims_are_read_exactly() {
        Claims claims = read(StrictJacksonTest.GOOD, Claims.class);
        assertEquals(new Claims("t", 1, 9_007_199_254_740_993L, 1.5, null, true, List.of("a")), claims);
        assertEquals(claims, verifier.verify(issuer.issue(claims), Claims.class).claims());
    }

    @Test
    void nothing_is_converted() {
        for (String[] change : StrictJacksonTest.CHANGES) {
            String json = StrictJacksonTest.GOOD.replace(change[0], change[1]);
            var rejected = assertThrows(TokenRejectedException.class, () -> read(json, Claims.class), json);
            assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, rejected.code());
        }
        assertThrows(TokenRejectedException.class, () -> read("{\"color\":0}", StrictJacksonTest.Colored.class));
    }

    record Inner(int number) {}

    record Outer(List<Inner> all, Float small, double[] large) {}

    @Test
    void rejection_names_the_component_that_does_not_match() {
        String good = "{\"all\":[{\"number\":1}],\"small\":1.5,\"large\":[1.5]}";
        assertEquals(1, read(good, Outer.class).all().get(0).number());
        var rejected = assertThrows(
                TokenRejectedException.class, () -> read(good.replace(":1}", ":\"secret\"}"), Outer.class));
        assertTrue(rejected.getMessage().endsWith(" at `all[].number`"), rejected.getMessage());
        for (String rounded : List.of(
                good.replace("1.5,", "16777217,"), good.replace("[1.5]", "[9007199254740993]"), good.replace("[1.5]", "[null]"))) {
            assertThrows(TokenRejectedException.class, () -> read(rounded, Outer.class), rounded);
        }
    }

    @Test
    void type_that_jackson_cannot_write_is_an_error() {
        var refused = assertThrows(JetonException.class, () -> issuer.issue(new Object()));
        assertTrue(refused.code().name().startsWith("CLAIMS_"), refused.toString());
    }
}
