package io.github.jeton.testing;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.Text;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * A clock that changes only when a test sets it. Issuers and verifiers accept it, and so does everything that accepts a
 * {@link Clock}. It has whole microseconds.
 *
 * <pre>{@code
 * TestClock clock = TestClock.at(Instant.parse("2026-01-01T00:00:00Z"));
 * clock.advance(Duration.ofMinutes(20));
 * }</pre>
 */
public final class TestClock extends Clock {
    private final ZoneId zone;
    private final Time time;

    /** The value of the native library. */
    private static final class Time extends NativeObject {
        private Instant moment;

        Time(Instant moment) {
            super(Handle.Kind.CLOCK, Calls.newClock(micros(moment)));
            this.moment = moment.truncatedTo(ChronoUnit.MICROS);
        }

        /** Returns the time since 1970. Beyond the range of a long, it is a number that the library rejects. */
        static long micros(Instant moment) {
            long seconds = moment.getEpochSecond();
            if (seconds < 0 || seconds > Long.MAX_VALUE / 2_000_000) {
                return seconds < 0 ? -1 : Long.MAX_VALUE;
            }
            return seconds * 1_000_000 + moment.getNano() / 1000;
        }
    }

    private TestClock(Time time, ZoneId zone) {
        this.time = time;
        this.zone = zone;
    }

    /** Creates a clock set to this moment. */
    public static TestClock at(Instant moment) {
        return new TestClock(new Time(Text.required(moment, "moment")), ZoneOffset.UTC);
    }

    /** Creates a clock set to the current time. */
    public static TestClock now() {
        return at(Instant.now());
    }

    /** Sets the time for all users of the clock. */
    public void set(Instant moment) {
        Text.required(moment, "moment");
        synchronized (time) {
            Calls.setClock(time, Time.micros(moment));
            time.moment = moment.truncatedTo(ChronoUnit.MICROS);
        }
    }

    /** Moves the clock by this duration. */
    public void advance(Duration by) {
        synchronized (time) {
            set(instant().plus(Text.required(by, "by")));
        }
    }

    @Override
    public Instant instant() {
        synchronized (time) {
            return time.moment;
        }
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    /** Returns the same clock with another zone. */
    @Override
    public Clock withZone(ZoneId other) {
        return new TestClock(time, Text.required(other, "zone"));
    }

    /** Used by the builders of this library. */
    public static NativeObject handleOf(TestClock clock) {
        return clock.time;
    }
}
