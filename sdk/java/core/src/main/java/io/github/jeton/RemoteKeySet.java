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
import java.util.concurrent.atomic.AtomicLong;
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
 * <p>Create it once for each issuer. A verification waits for a fetch if there are no keys, or if it does not know the key id. The
 * fetch has a daemon thread of its own: it goes on if a thread that waits for it is interrupted.
 */
public final class RemoteKeySet extends NativeObject {
    /** How often one verification fetches: the keys, and again for an unknown key id, also if another thread has just fetched. */
    private static final int ROUNDS = 3;

    /** How often the schedule is asked whether keys are to be fetched again. */
    private static final long ASK_NANOS = Duration.ofSeconds(1).toNanos();

    private final KeyFetches fetches;
    private final Executor executor;
    private final AtomicLong nextAsk = new AtomicLong(System.nanoTime() + ASK_NANOS);

    private RemoteKeySet(byte[] reply, Fetcher fetcher, Executor executor) {
        super(Handle.Kind.REMOTE_KEYS, reply);
        this.fetches = new KeyFetches(this, fetcher);
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

    /**
     * Fetches the keys now, for a program that starts.
     *
     * @throws KeySetException if there are no keys then, with the reason, or if the thread is interrupted; the fetch goes on
     */
    public void warmUp() {
        fetches.fetch();
        try {
            Calls.checkReady(this);
        } catch (JetonException failed) {
            checkKeys(failed.code(), failed.getMessage());
            throw failed;
        }
    }

    /**
     * Ends a request that runs, and releases the keys. A verifier goes on with the keys that were fetched. If it needs others, it
     * throws an error with the code {@code ARGUMENT_HANDLE}.
     */
    @Override
    public void close() {
        fetches.close();
        super.close();
    }

    /** Fetches what a verification needs, and repeats it. */
    VerifiedReply complete(VerifiedReply first, Supplier<VerifiedReply> verify) {
        VerifiedReply reply = first;
        for (int round = 0; needsKeys(reply) && round < ROUNDS; round++) {
            KeyFetches.Outcome outcome = fetches.fetch();
            reply = verify.get();
            if (outcome == KeyFetches.Outcome.FAILED) {
                break;
            }
        }
        checkKeys(reply);
        fetchBeside();
        return reply;
    }

    private static boolean needsKeys(VerifiedReply reply) {
        return reply.isFailure() && reply.code() == ErrorCode.KEY_SET_TO_FETCH;
    }

    /** What is wrong with keys is wrong with those that were fetched, and not with the token. */
    private void checkKeys(VerifiedReply reply) {
        if (reply.isFailure()) {
            checkKeys(reply.code(), reply.message());
        }
    }

    private void checkKeys(ErrorCode code, String message) {
        boolean isOfKeys = code.name().startsWith("KEY_") || code.name().startsWith("DISCOVERY_");
        if (!isOfKeys) {
            return;
        }
        // A request that was ended by the program is no failure of the server.
        fetches.checkOpen();
        if (code == ErrorCode.KEY_SET_TO_FETCH) {
            throw new KeySetException(
                    ErrorCode.KEY_SET_UNREACHABLE,
                    "no keys to verify with: the key set could not be fetched",
                    fetches.lastFailure());
        }
        Throwable cause = code == ErrorCode.KEY_SET_UNREACHABLE ? fetches.lastFailure() : null;
        throw new KeySetException(code, message, cause);
    }

    /** Keys that are no longer fresh are used, and fetched again beside. */
    private void fetchBeside() {
        long now = System.nanoTime();
        long due = nextAsk.get();
        if (now - due >= 0 && nextAsk.compareAndSet(due, now + ASK_NANOS)) {
            fetches.fetchBeside(executor);
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
        static long idOf(String json) {
            return Long.parseLong(JsonText.member(json, "id"));
        }

        static Request of(String json) {
            return new Request(
                    idOf(json),
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

    /** Sends requests. The default is the HTTP client of the JDK. It follows no redirects. {@link #close} interrupts it. */
    @FunctionalInterface
    public interface Fetcher {
        /**
         * Sends a request and waits for the response, until the time limit of the request.
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
        private Executor executor;

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

        /**
         * Sets which threads fetch beside verifications, while the keys that are there are used. The default is a daemon thread for
         * each fetch, as it is for a fetch that verifications wait for.
         */
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
