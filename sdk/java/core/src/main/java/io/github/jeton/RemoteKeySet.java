package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.HttpFetcher;
import io.github.jeton.internal.JsonText;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import io.github.jeton.internal.VerifiedReply;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The keys that an issuer publishes. They are fetched when a token needs them, kept, and fetched again before they are too old. An
 * unknown key id causes one request, then none for a while.
 *
 * <pre>{@code
 * RemoteKeySet keys = RemoteKeySet.discover("https://id.example").build();
 * Verifier verifier = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
 * }</pre>
 *
 * <p>Create it once for each issuer. A verification fetches in its own thread if there are no keys; later requests run beside.
 */
public final class RemoteKeySet extends NativeObject {
    /** A verification needs at most these: the discovery document, the key set, and the set again for an unknown key id. */
    private static final int ROUNDS = 3;

    /** How often the schedule is asked whether keys are to be fetched again. */
    private static final long ASK_NANOS = Duration.ofSeconds(1).toNanos();

    private final Fetcher fetcher;
    private final Executor executor;

    /** A lock rather than a monitor, which would hold the carrier of a virtual thread. */
    private final ReentrantLock fetching = new ReentrantLock();

    private final AtomicLong nextAsk = new AtomicLong(System.nanoTime() + ASK_NANOS);
    private final AtomicBoolean isAsking = new AtomicBoolean();

    private RemoteKeySet(byte[] reply, Fetcher fetcher, Executor executor) {
        super(Handle.Kind.REMOTE_KEYS, reply);
        this.fetcher = fetcher;
        this.executor = executor;
    }

    /** Begins the key set at an address. */
    public static Builder at(String address) {
        return new Builder("address", address);
    }

    /** Begins the key set of an issuer, whose address its discovery document has. */
    public static Builder discover(String issuer) {
        return new Builder("issuer", issuer);
    }

    /** Fetches the keys now, for a program that starts. A failure is reported by the first verification. */
    public void warmUp() {
        fetch(ROUNDS);
    }

    /** Fetches what a verification needs, and repeats it. */
    VerifiedReply complete(VerifiedReply first, Supplier<VerifiedReply> verify) {
        VerifiedReply reply = first;
        for (int round = 0; round < ROUNDS && needsKeys(reply); round++) {
            // Another thread may have fetched meanwhile: then nothing is to be fetched, and the verification knows.
            fetch(1);
            reply = verify.get();
        }
        refreshBeside();
        return reply;
    }

    private static boolean needsKeys(VerifiedReply reply) {
        return reply.isFailure() && reply.code() == ErrorCode.KEY_SET_TO_FETCH;
    }

    /** Sends what the schedule asks for. One thread at a time. */
    private void fetch(int rounds) {
        fetching.lock();
        try {
            for (int round = 0; round < rounds; round++) {
                String json = Calls.nextRequest(this);
                if (json.isEmpty()) {
                    return;
                }
                answer(Request.of(json));
            }
        } finally {
            fetching.unlock();
        }
    }

    private void answer(Request request) {
        Response response;
        try {
            response = fetcher.fetch(request);
        } catch (IOException | RuntimeException failed) {
            response = null;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            response = null;
        }
        if (response == null) {
            Calls.respond(this, request.id(), 0, "", new byte[0]);
            return;
        }
        StringBuilder headers = new StringBuilder();
        response.headers().forEach((name, value) -> {
            if ((name + value).indexOf('\n') < 0) {
                headers.append(name).append(": ").append(value).append('\n');
            }
        });
        Calls.respond(this, request.id(), response.status(), headers.toString(), response.body());
    }

    /** Keys that are no longer fresh are used, and fetched again by another thread. */
    private void refreshBeside() {
        long now = System.nanoTime();
        long due = nextAsk.get();
        if (now - due < 0 || !nextAsk.compareAndSet(due, now + ASK_NANOS) || !isAsking.compareAndSet(false, true)) {
            return;
        }
        try {
            executor.execute(() -> {
                try {
                    fetch(ROUNDS);
                } catch (JetonException closed) {
                    // There is nobody to tell.
                } finally {
                    isAsking.set(false);
                }
            });
        } catch (RuntimeException rejected) {
            isAsking.set(false);
        }
    }

    /**
     * A request that the schedule asks for.
     *
     * @param id the number of the request
     * @param uri the address
     * @param etag what to send as {@code If-None-Match}, or null
     * @param noCache whether to send {@code Cache-Control: no-cache}
     * @param maxBytes the longest body that is read
     * @param publicOnly whether to connect to public addresses only, as the address comes from a document
     * @param timeout the longest time for all
     */
    public record Request(
            long id, URI uri, String etag, boolean noCache, int maxBytes, boolean publicOnly, Duration timeout) {
        private static Request of(String json) {
            return new Request(
                    Long.parseLong(JsonText.member(json, "id")),
                    URI.create(JsonText.member(json, "url")),
                    JsonText.member(json, "etag"),
                    Boolean.parseBoolean(JsonText.member(json, "no_cache")),
                    Integer.parseInt(JsonText.member(json, "max_bytes")),
                    Boolean.parseBoolean(JsonText.member(json, "public_only")),
                    Duration.ofMillis(Long.parseLong(JsonText.member(json, "timeout_milliseconds"))));
        }
    }

    /**
     * A response.
     *
     * @param status the status of HTTP
     * @param headers {@code ETag}, {@code Cache-Control} and {@code Age} are read; case does not matter
     * @param body at most {@code maxBytes} of the request, or one more to say that it is longer
     */
    public record Response(int status, Map<String, String> headers, byte[] body) {
        /** Creates a response. */
        public Response {
            headers = Map.copyOf(Text.required(headers, "headers"));
            Text.required(body, "body");
        }
    }

    /** Sends requests. The default is the HTTP client of the JDK. It follows no redirects. */
    @FunctionalInterface
    public interface Fetcher {
        /**
         * Sends a request and waits for the response.
         *
         * @throws IOException if there is none
         * @throws InterruptedException if the thread is interrupted
         */
        Response fetch(Request request) throws IOException, InterruptedException;
    }

    /** The settings of a key set. */
    public static final class Builder {
        private final Settings settings = new Settings();
        private Fetcher fetcher;
        private Executor executor = ForkJoinPool.commonPool();

        private Builder(String kind, String value) {
            settings.text(kind, value);
        }

        /** Sets the algorithm of keys that do not say theirs. */
        public Builder defaultAlgorithm(Algorithm algorithm) {
            settings.text("default_alg", Text.required(algorithm, "algorithm").standardName());
            return this;
        }

        /** Allows an issuer to publish a private address for its keys. */
        public Builder allowPrivateAddresses() {
            settings.flag("allow_private_addresses");
            return this;
        }

        /** Sets for how long keys are fresh if the server does not say it. */
        public Builder freshFor(Duration time) {
            settings.seconds("fresh_for", time);
            return this;
        }

        /** Sets how long an unknown key id causes no further request. */
        public Builder cooldown(Duration time) {
            settings.seconds("cooldown", time);
            return this;
        }

        /** Sets for how long keys are used while they cannot be fetched again. */
        public Builder usableFor(Duration time) {
            settings.seconds("usable_for", time);
            return this;
        }

        /** Sets what sends the requests. */
        public Builder fetcher(Fetcher fetcher) {
            this.fetcher = Text.required(fetcher, "fetcher");
            return this;
        }

        /** Sets which threads fetch beside verifications. */
        public Builder executor(Executor executor) {
            this.executor = Text.required(executor, "executor");
            return this;
        }

        /** Creates the key set. It sends no request. */
        public RemoteKeySet build() {
            byte[] reply = Calls.newRemoteKeys(settings.copy());
            return new RemoteKeySet(reply, fetcher == null ? new HttpFetcher() : fetcher, executor);
        }
    }
}
