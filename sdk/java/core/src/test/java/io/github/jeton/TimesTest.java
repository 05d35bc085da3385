package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.testing.TestClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Times with parts of a second, and {@code iat} ahead of the clock. */
class TimesTest {
    private static final Instant NOW = Instant.ofEpochSecond(1_800_000_000);

    private final Key key = Key.generate(Algorithm.HS256);
    private final Issuer issuer =
            Issuer.builder(key).issuer("i").audience("a").lifetime(Duration.ofMinutes(1)).build();

    private Verifier.Builder verifier() {
        return Verifier.builder(key).issuer("i").audience("a");
    }

    /** Returns the code of the rejection, or null. */
    private static ErrorCode code(Verifier verifier, String token) {
        try {
            verifier.verify(token);
            return null;
        } catch (TokenRejectedException rejected) {
            return rejected.code();
        }
    }

    private String token(String nbf, String iat) {
        return issuer.issueJson("{\"nbf\":" + nbf + ",\"iat\":" + iat + "}");
    }

    /** Other libraries write the time with a fraction: the system clock has reached it. */
    @Test
    void fractional_iat_and_nbf_verify_at_once() {
        Verifier verifier = verifier().build();
        int accepted = 0;
        for (int round = 0; round < 300; round++) {
            Instant now = Instant.now();
            String written = now.getEpochSecond() + "." + String.format("%09d", now.getNano());
            if (code(verifier, token(written, written)) == null) {
                accepted++;
            }
        }
        assertEquals(300, accepted);
    }

    @Test
    void clock_of_a_test_has_microseconds() {
        TestClock clock = TestClock.at(NOW.plusMillis(500));
        assertEquals(NOW.plusMillis(500), clock.instant());
        Verifier verifier = verifier().clock(clock).build();
        assertEquals(null, code(verifier, token("1800000000.5", "1800000000")));
        String early = token("1800000000.75", "1800000000");
        assertEquals(ErrorCode.TOKEN_NOT_YET_VALID, code(verifier, early));
        clock.advance(Duration.ofMillis(250));
        assertEquals(null, code(verifier, early));
        for (Instant outside : new Instant[] {Instant.MIN, Instant.EPOCH.minusNanos(1), Instant.MAX}) {
            JetonException failure = assertThrows(JetonException.class, () -> TestClock.at(outside));
            assertEquals(ErrorCode.CLAIM_RANGE, failure.code());
        }
    }

    @Test
    void iat_is_ahead_of_the_clock_by_a_minute() {
        TestClock clock = TestClock.at(NOW);
        Verifier verifier = verifier().clock(clock).build();
        Verifier withMaxAge = verifier().clock(clock).maxAge(Duration.ofHours(1)).build();
        for (int ahead : new int[] {0, 60, 61, 3600}) {
            String token = token("0", String.valueOf(1_800_000_000 + ahead));
            ErrorCode expected = ahead <= 60 ? null : ErrorCode.TOKEN_NOT_YET_VALID;
            assertEquals(expected, code(verifier, token), ahead + " s");
            expected = ahead == 0 ? null : ErrorCode.TOKEN_NOT_YET_VALID;
            assertEquals(expected, code(withMaxAge, token), ahead + " s");
        }
    }
}
