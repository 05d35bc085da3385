package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fetches of a remote key set: waiting callers, cancellation, and number of requests. */
@Timeout(240)
class KeyFetchesTest {
    private static final String ISSUER = "https://id.example/realms/one";

    private final Key key = Key.generator(Algorithm.ES256).keyId("a").generate();
    private final String token = token(key);
    private final AtomicInteger requests = new AtomicInteger();

    private static String token(Key key) {
        return Issuer.builder(key)
                .issuer(ISSUER)
                .audience("api")
                .lifetime(Duration.ofMinutes(1))
                .build()
                .issueJson("{}");
    }

    private static Verifier verifier(RemoteKeySet keys) {
        return Verifier.builder(keys).issuer(ISSUER).audience("api").build();
    }

    private static RemoteKeySet keys(RemoteKeySet.Fetcher fetcher) {
        return RemoteKeySet.at("https://id.example/jwks").fetcher(fetcher).build();
    }

    private RemoteKeySet.Response published() {
        byte[] set = KeySet.of(key).toJwks().getBytes(StandardCharsets.UTF_8);
        return new RemoteKeySet.Response(200, Map.of(), set);
    }

    private static JetonException failure(Verifier verifier, String token) {
        return assertThrows(JetonException.class, () -> verifier.verify(token));
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int wait = 0; wait < 6000 && !condition.getAsBoolean(); wait++) {
            Thread.sleep(10);
        }
        assertTrue(condition.getAsBoolean());
    }

    private static long fetchingThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("jeton-keys"))
                .count();
    }

    /** A server that publishes its document at one of the three addresses. */
    private RemoteKeySet discovered(String documentPath, List<String> requested) {
        return RemoteKeySet.discover(ISSUER)
                .fetcher(request -> {
                    String path = request.uri().getPath();
                    requested.add(path);
                    if (path.equals(documentPath)) {
                        String document = "{\"issuer\":\"" + ISSUER + "\",\"jwks_uri\":\"" + ISSUER + "/keys\"}";
                        return new RemoteKeySet.Response(200, Map.of(), document.getBytes(StandardCharsets.UTF_8));
                    }
                    return path.endsWith("/keys") ? published() : new RemoteKeySet.Response(404, Map.of(), new byte[0]);
                })
                .build();
    }

    @Test
    void interrupted_caller_ends_its_own_wait_only() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        CountDownLatch response = new CountDownLatch(1);
        Verifier verifier = verifier(keys(request -> {
            requests.incrementAndGet();
            sent.countDown();
            response.await();
            return published();
        }));
        CompletableFuture<Throwable> interrupted = new CompletableFuture<>();
        AtomicInteger flags = new AtomicInteger();
        Thread one = new Thread(() -> {
            Throwable thrown = failure(verifier, token);
            flags.set(Thread.currentThread().isInterrupted() ? 1 : 0);
            interrupted.complete(thrown);
        });
        one.start();
        sent.await();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        try {
            Future<Verified<?>> innocent = pool.submit(() -> (Verified<?>) verifier.verify(token));
            one.interrupt();
            var failure = (JetonException) interrupted.get(60, TimeUnit.SECONDS);
            assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
            assertTrue(failure.getCause() instanceof InterruptedException);
            assertEquals(1, flags.get(), "the thread is still interrupted");
            response.countDown();
            assertEquals("a", innocent.get(60, TimeUnit.SECONDS).keyId().orElseThrow());
        } finally {
            pool.shutdownNow();
        }
        assertEquals("a", verifier.verify(token).keyId().orElseThrow());
        assertEquals(1, requests.get());
    }

    @Test
    void unknown_key_without_a_cooldown_is_fetched_once_per_call() {
        AtomicInteger status = new AtomicInteger(200);
        Verifier verifier = verifier(RemoteKeySet.at("https://id.example/jwks")
                .cooldown(Duration.ZERO)
                .fetcher(request -> {
                    requests.incrementAndGet();
                    return status.get() == 200 ? published() : new RemoteKeySet.Response(500, Map.of(), new byte[0]);
                })
                .build());
        assertEquals("a", verifier.verify(token).keyId().orElseThrow());
        String unknown = token(Key.generator(Algorithm.ES256).keyId("b").generate());
        for (int expected : new int[] {200, 200, 500}) {
            status.set(expected);
            int before = requests.get();
            assertEquals(ErrorCode.TOKEN_UNKNOWN_KEY, failure(verifier, unknown).code());
            assertEquals(before + 1, requests.get());
            assertTrue(verifier.tryVerify(unknown, Map.class) instanceof Verification.Rejected);
            assertEquals(before + 2, requests.get());
        }
    }

    @Test
    void failure_without_a_cooldown_is_reported_after_one_request() {
        for (int status : new int[] {0, 500}) {
            requests.set(0);
            RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                    .cooldown(Duration.ZERO)
                    .fetcher(request -> {
                        requests.incrementAndGet();
                        return new RemoteKeySet.Response(status, Map.of(), new byte[0]);
                    })
                    .build();
            Verifier verifier = verifier(keys);
            for (int call = 0; call < 3; call++) {
                assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure(verifier, token).code());
                assertEquals(2 * call + 1, requests.get());
                var failure = assertThrows(KeySetException.class, keys::warmUp);
                assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
                assertEquals(2 * call + 2, requests.get());
            }
        }
    }

    @Test
    void threads_with_one_unknown_key_share_their_fetches() throws Exception {
        Verifier verifier = verifier(RemoteKeySet.at("https://id.example/jwks")
                .cooldown(Duration.ZERO)
                .fetcher(request -> {
                    requests.incrementAndGet();
                    return published();
                })
                .build());
        verifier.verify(token);
        String unknown = token(Key.generator(Algorithm.ES256).keyId("b").generate());
        ExecutorService pool = Executors.newFixedThreadPool(20);
        try {
            List<Future<ErrorCode>> all = new ArrayList<>();
            for (int call = 0; call < 20; call++) {
                all.add(pool.submit(() -> failure(verifier, unknown).code()));
            }
            for (Future<ErrorCode> one : all) {
                assertEquals(ErrorCode.TOKEN_UNKNOWN_KEY, one.get(60, TimeUnit.SECONDS));
            }
        } finally {
            pool.shutdownNow();
        }
        assertTrue(requests.get() <= 41, requests + " requests");
    }

    /** The fetch takes longer than the pause of one second, so the schedule would allow another request at once. */
    @Test
    void server_that_hangs_is_asked_once() {
        Verifier verifier = verifier(keys(request -> {
            requests.incrementAndGet();
            Thread.sleep(1500);
            throw new IOException("no response in time");
        }));
        JetonException failure = failure(verifier, token);
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
        assertEquals("no response in time", failure.getCause().getMessage());
        assertEquals(1, requests.get());
    }

    @Test
    void document_at_the_third_address_is_found_at_once() {
        List<String> requested = new ArrayList<>();
        RemoteKeySet keys = discovered("/.well-known/openid-configuration/realms/one", requested);
        assertEquals("a", verifier(keys).verify(token).keyId().orElseThrow());
        assertEquals(4, requested.size(), requested::toString);
    }

    @Test
    void warm_up_fetches_all() {
        List<String> requested = new ArrayList<>();
        RemoteKeySet keys = discovered("/.well-known/openid-configuration/realms/one", requested);
        keys.warmUp();
        assertEquals(4, requested.size(), requested::toString);
        assertEquals("a", verifier(keys).verify(token).keyId().orElseThrow());
        assertEquals(4, requested.size(), requested::toString);
    }

    @Test
    void warm_up_says_why_there_are_no_keys() {
        KeySetException down = assertThrows(KeySetException.class, () -> keys(request -> {
                    throw new IOException("refused");
                })
                .warmUp());
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, down.code());
        assertEquals("refused", down.getCause().getMessage());
        KeySetException html = assertThrows(
                KeySetException.class,
                () -> keys(request -> new RemoteKeySet.Response(
                                200, Map.of(), "<html>".getBytes(StandardCharsets.UTF_8)))
                        .warmUp());
        assertEquals(ErrorCode.KEY_MALFORMED, html.code());
    }

    @Test
    void invented_key_is_unknown_wherever_the_document_is() {
        for (String path : List.of(
                "/realms/one/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server/realms/one",
                "/.well-known/openid-configuration/realms/one")) {
            List<String> requested = new ArrayList<>();
            Verifier verifier = verifier(discovered(path, requested));
            JetonException failure =
                    failure(verifier, token(Key.generator(Algorithm.ES256).keyId("invented").generate()));
            assertEquals(ErrorCode.TOKEN_UNKNOWN_KEY, failure.code(), path);
            assertEquals(2, requested.stream().filter(asked -> asked.endsWith("/keys")).count());
        }
    }

    /** Threads that use the keys at the same time must not report that the keys cannot be fetched. */
    @Test
    void invented_key_is_unknown_for_many_threads() throws Exception {
        Verifier verifier = verifier(keys(request -> {
            requests.incrementAndGet();
            return published();
        }));
        String invented = token(Key.generator(Algorithm.ES256).keyId("invented").generate());
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            all.add(pool.submit(() -> {
                for (int call = 0; call < 500; call++) {
                    assertEquals(ErrorCode.TOKEN_UNKNOWN_KEY, failure(verifier, invented).code());
                }
            }));
        }
        for (Future<?> one : all) {
            one.get(60, TimeUnit.SECONDS);
        }
        pool.shutdown();
        assertEquals(2, requests.get());
    }

    @Test
    void cause_is_the_failure_of_the_request() {
        IOException why = new IOException("PKIX path building failed");
        Verifier verifier = verifier(keys(request -> {
            throw why;
        }));
        assertSame(why, failure(verifier, token).getCause());
        assertSame(why, failure(verifier, token).getCause());
        var trial = assertThrows(JetonException.class, () -> verifier.tryVerify(token, Map.class));
        assertSame(why, trial.getCause());
    }

    @Test
    void cause_is_absent_where_the_server_responded() {
        Verifier verifier = verifier(keys(request -> new RemoteKeySet.Response(503, Map.of(), new byte[0])));
        JetonException failure = failure(verifier, token);
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
        assertEquals(null, failure.getCause());
        assertTrue(failure.getMessage().contains("503"), failure.getMessage());
    }

    @Test
    void whatever_the_fetcher_does_is_a_failure_with_a_cause() {
        List<RemoteKeySet.Fetcher> fetchers = List.of(
                request -> null,
                request -> new RemoteKeySet.Response(0, Map.of(), new byte[0]),
                request -> {
                    throw new NoClassDefFoundError("x");
                },
                request -> {
                    throw new JetonException(ErrorCode.INTERNAL, "x");
                },
                request -> {
                    throw new InterruptedException("x");
                });
        for (RemoteKeySet.Fetcher fetcher : fetchers) {
            Verifier verifier = verifier(keys(request -> {
                requests.incrementAndGet();
                return fetcher.fetch(request);
            }));
            requests.set(0);
            long begun = System.nanoTime();
            for (int call = 0; call < 2; call++) {
                JetonException failure = failure(verifier, token);
                assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
                assertTrue(failure instanceof KeySetException && failure.getCause() != null);
            }
            // The next request is after a pause of one second.
            long pauses = (System.nanoTime() - begun) / 1_000_000_000L;
            assertTrue(requests.get() <= 1 + pauses);
        }
        // A header that is invalid in HTTP is not a failure.
        Verifier odd = verifier(keys(request ->
                new RemoteKeySet.Response(200, Map.of("\ud83d", "a\nb", "ETag", "\"1\""), published().body())));
        assertEquals("a", odd.verify(token).keyId().orElseThrow());
    }

    /** Java's parser of addresses refuses this address, and the core accepts it. */
    @Test
    void published_address_that_java_refuses_is_a_failure() {
        RemoteKeySet keys = RemoteKeySet.discover(ISSUER)
                .fetcher(request -> new RemoteKeySet.Response(
                        200,
                        Map.of(),
                        ("{\"issuer\":\"" + ISSUER + "\",\"jwks_uri\":\"https://id.example/a|b\"}")
                                .getBytes(StandardCharsets.UTF_8)))
                .build();
        JetonException failure = failure(verifier(keys), token);
        assertTrue(failure.code().name().startsWith("KEY_SET_"), failure.toString());
    }

    @Test
    void close_ends_the_fetch_and_the_wait() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        RemoteKeySet keys = keys(request -> {
            sent.countDown();
            try {
                Thread.sleep(60_000);
                return published();
            } finally {
                ended.countDown();
            }
        });
        Verifier verifier = verifier(keys);
        CompletableFuture<JetonException> waiting = CompletableFuture.supplyAsync(() -> failure(verifier, token));
        sent.await();
        keys.close();
        assertEquals(ErrorCode.ARGUMENT_HANDLE, waiting.get(60, TimeUnit.SECONDS).code());
        assertTrue(ended.await(60, TimeUnit.SECONDS));
        await(() -> fetchingThreads() == 0);
        keys.close();
        assertEquals(ErrorCode.ARGUMENT_HANDLE, assertThrows(JetonException.class, keys::warmUp).code());
        assertEquals(ErrorCode.ARGUMENT_HANDLE, failure(verifier, token).code());
    }

    @Test
    void close_does_not_end_verification_with_fetched_keys() {
        Verifier verifier;
        try (RemoteKeySet keys = keys(request -> published())) {
            verifier = verifier(keys);
            keys.warmUp();
        }
        assertEquals("a", verifier.verify(token).keyId().orElseThrow());
    }

    @Test
    void close_interrupts_a_fetch_in_an_executor_once() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch background = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                .freshFor(Duration.ofSeconds(1))
                .cooldown(Duration.ofSeconds(1))
                .executor(pool)
                .fetcher(request -> {
                    if (requests.incrementAndGet() > 1) {
                        assertFalse(Thread.currentThread().getName().equals("jeton-keys"));
                        background.countDown();
                        try {
                            Thread.sleep(60_000);
                        } finally {
                            ended.countDown();
                        }
                    }
                    return published();
                })
                .build();
        Verifier verifier = verifier(keys);
        for (int call = 0; call < 1200 && background.getCount() > 0; call++) {
            verifier.verify(token);
            Thread.sleep(50);
        }
        assertEquals(0, background.getCount());
        keys.close();
        assertTrue(ended.await(60, TimeUnit.SECONDS));
        assertEquals(false, pool.submit(() -> Thread.currentThread().isInterrupted()).get(60, TimeUnit.SECONDS));
        pool.shutdown();
        assertEquals("a", verifier.verify(token).keyId().orElseThrow());
    }

    /** The caller that needs a queued fetch starts it. */
    @Test
    void executor_whose_threads_verify_does_not_block() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                .executor(pool)
                .fetcher(request -> published())
                .build();
        Verifier verifier = verifier(keys);
        Thread.sleep(1100);
        assertEquals("a", pool.submit(() -> verifier.verify(token)).get(60, TimeUnit.SECONDS).keyId().orElseThrow());
        pool.shutdown();
    }

    @Test
    void fetcher_that_does_not_return_holds_callers_for_its_time_limit_only() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch ignored = new CountDownLatch(1);
        Verifier verifier = verifier(keys(request -> {
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException late) {
                interrupted.countDown();
            }
            ignored.await();
            return published();
        }));
        long start = System.nanoTime();
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure(verifier, token).code());
        assertTrue(interrupted.await(60, TimeUnit.SECONDS));
        JetonException again = failure(verifier, token);
        assertEquals(ErrorCode.KEY_SET_UNREACHABLE, again.code());
        assertEquals("the fetcher did not return in time", again.getCause().getMessage());
        assertTrue(System.nanoTime() - start < Duration.ofSeconds(120).toNanos());
        ignored.countDown();
    }

    /** The server sends the head and one byte of the body. No thread and no connection remains. */
    @Test
    void body_that_does_not_end_leaves_nothing() throws Exception {
        List<Socket> open = new CopyOnWriteArrayList<>();
        AtomicInteger closed = new AtomicInteger();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread accepting = new Thread(() -> {
                try {
                    while (true) {
                        Socket socket = server.accept();
                        open.add(socket);
                        socket.getInputStream().read(new byte[4096]);
                        socket.getOutputStream().write(
                                "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{".getBytes(StandardCharsets.US_ASCII));
                        new Thread(() -> {
                            try {
                                socket.getInputStream().read();
                            } catch (IOException reset) {
                                // A reset also ends the connection.
                            }
                            closed.incrementAndGet();
                        }).start();
                    }
                } catch (IOException stopped) {
                    // The test is over.
                }
            });
            accepting.setDaemon(true);
            accepting.start();
            RemoteKeySet keys = RemoteKeySet.at("http://127.0.0.1:" + server.getLocalPort() + "/jwks").build();
            JetonException failure = failure(verifier(keys), token);
            assertEquals(ErrorCode.KEY_SET_UNREACHABLE, failure.code());
            assertEquals("no response in time", failure.getCause().getMessage());
            await(() -> closed.get() == open.size());
            assertEquals(1, open.size());
            await(() -> fetchingThreads() == 0);
        }
    }
}
