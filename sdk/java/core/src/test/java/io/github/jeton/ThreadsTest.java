package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    record Visit(String page, int number) {}

    private static Issuer issuer(Key key) {
        return Issuer.builder(key).issuer("i").audience("a").lifetime(Duration.ofMinutes(1)).build();
    }

    private static Verifier verifier(Key key) {
        return Verifier.builder(key).issuer("i").audience("a").build();
    }

    private interface Starter {
        Thread start(Runnable work) throws Exception;
    }

    private static void together(int threads, int calls, Starter starter) throws Exception {
        Key key = Key.generate(Algorithm.ES256);
        Issuer issuer = issuer(key);
        Verifier verifier = verifier(key);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            all.add(starter.start(() -> {
                try {
                    for (int call = 0; call < calls; call++) {
                        String token = issuer.issue(new Visit("/", number));
                        assertEquals(number, verifier.verify(token, Visit.class).claims().number());
                        done.incrementAndGet();
                    }
                } catch (Throwable thrown) {
                    failure.set(thrown);
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }
        assertNull(failure.get(), () -> String.valueOf(failure.get()));
        assertEquals(threads * calls, done.get());
    }

    @Test
    void threads_share_an_issuer_and_a_verifier() throws Exception {
        together(8, 500, work -> {
            Thread thread = new Thread(work);
            thread.start();
            return thread;
        });
    }

    @Test
    void virtual_threads_by_the_thousand() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21);
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        together(5_000, 2, work -> (Thread) start.invoke(null, work));
    }

    /** Threads with the smallest stack that the JVM offers. */
    @Test
    void small_stack_suffices() throws Exception {
        together(2, 20, work -> {
            Thread thread = new Thread(null, work, "small", 256 * 1024);
            thread.start();
            return thread;
        });
    }

    @Test
    void closing_while_in_use_is_safe() throws Exception {
        for (int round = 0; round < 100; round++) {
            Key key = Key.generate(Algorithm.HS256);
            Issuer issuer = issuer(key);
            Verifier verifier = verifier(key);
            String token = issuer.issueJson("{}");
            CountDownLatch started = new CountDownLatch(3);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            AtomicInteger closed = new AtomicInteger();
            List<Thread> all = new ArrayList<>();
            for (Runnable use : List.<Runnable>of(
                    () -> issuer.issueJson("{}"), () -> verifier.verify(token), key::thumbprint)) {
                Thread thread = new Thread(() -> {
                    try {
                        started.countDown();
                        while (true) {
                            use.run();
                        }
                    } catch (JetonException end) {
                        if (end.code() == ErrorCode.ARGUMENT_HANDLE) {
                            closed.incrementAndGet();
                        } else {
                            failure.set(end);
                        }
                    } catch (Throwable thrown) {
                        failure.set(thrown);
                    }
                });
                thread.start();
                all.add(thread);
            }
            started.await();
            issuer.close();
            verifier.close();
            key.close();
            for (Thread thread : all) {
                thread.join();
            }
            assertNull(failure.get(), () -> String.valueOf(failure.get()));
            assertEquals(3, closed.get());
        }
    }

    /** The garbage collector releases objects that are not closed. */
    @Test
    void unreachable_objects_are_released() throws Exception {
        Key key = Key.generate(Algorithm.HS256);
        long before = residentKilobytes();
        for (int made = 0; made < 60_000; made++) {
            // Each verifier uses a kilobyte or more.
            verifier(key);
            if (made % 5_000 == 0) {
                System.gc();
                Thread.sleep(20);
            }
        }
        System.gc();
        Thread.sleep(100);
        long grown = residentKilobytes() - before;
        assertTrue(grown < 400_000, grown + " kB");
    }

    private static long residentKilobytes() throws java.io.IOException {
        var status = java.nio.file.Path.of("/proc/self/status");
        assumeTrue(java.nio.file.Files.exists(status));
        return java.nio.file.Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
