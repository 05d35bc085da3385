package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.HttpFetcher;
import io.github.jeton.internal.JsonText;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
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
 * The published keys of an issuer. They are fetched when a token needs them, cached, and fetched again before they are
 * too old. An unknown key id causes one request, then none for a while.
 *
 * <pre>{@code
 * RemoteKeySet keys = RemoteKeySet.discover("https://id.example").build();
 * Verifier verifier = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
 * }</pre>
 *
 * <p>Create one for each issuer. A verification waits for a fetch if there are no keys or the key id is unknown. The
 * fetch runs in a daemon thread and continues if a waiting thread is interrupted.
 */
public final class RemoteKeySet extends NativeObject {
    /**
     * The fetches of one verification: the keys, the keys again for an unknown key id, and one more if another thread
     * has just fetched.
     */
    private static final int ROUNDS = 3;

    /** How often the schedule is checked for due requests. */
    private static final long ASK_NANOS = Duration.ofSeconds(1).toNanos();

    private final KeyFetches fetches;
    private final Executor executor;
    private final AtomicLong nextAsk = new AtomicLong(System.nanoTime() + ASK_NANOS);

    private RemoteKeySet(byte[] reply, Fetcher fetcher, Executor executor) {
        super(Handle.Kind.REMOTE_KEYS, reply);
        this.fetches = new KeyFetches(this, fetcher);
        this.executor = executor;
    }

    /** Creates a builder for the key set at an address. */
    public static Builder at(String address) {
        return new Builder("address", address);
    }

    /** Creates a builder for the key set of an issuer. Its discovery document has the address. */
    public static Builder discover(String issuer) {
        return new Builder("issuer", issuer);
    }

    /**
     * Fetches the keys now. Call it at program start.
     *
     * @throws KeySetException if there are no keys afterwards, with the reason, or if the thread is interrupted; the
     *     fetch continues
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
     * Ends a running request and releases the keys. Verifiers continue with the fetched keys. A verifier that needs
     * other keys throws an error with the code {@code ARGUMENT_HANDLE}.
     */
    @Override
    public void close() {
        fetches.close();
        super.close();
    }

    /** Fetches the keys that a verification needs, and repeats the verification. */
    VerifiedReply complete(VerifiedReply first, Supplier<VerifiedReply> verify) {
        VerifiedReply reply = first;
        for (int round = 0; needsKeys(reply) && round < ROUNDS; round++) {
            KeyFetches.Outcome outcome = fetches.fetch();
            reply = verify.get();
            if (outcome == KeyFetches.Outcome.FAILED) {
                break;
            }
        }
        if (needsKeys(reply) && isReady()) {
            // Other threads verified the same token, and their fetches answered them.
            reply = VerifiedReply.unknownKey();
            fetches.fetchInBackground(executor);
        }
        checkKeys(reply);
        fetchInBackground();
        return reply;
    }

    private boolean isReady() {
        try {
            Calls.checkReady(this);
            return true;
        } catch (JetonException notReady) {
            return false;
        }
    }

    private static boolean needsKeys(VerifiedReply reply) {
        return reply.isFailure() && reply.code() == ErrorCode.KEY_SET_TO_FETCH;
    }

    /** An error about keys is about the fetched keys, not about the token. */
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
        // A request that the program ended is not a failure of the server.
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

    /** Fetches due keys in the background. Verifications use the old keys until then. */
    private void fetchInBackground() {
        long now = System.nanoTime();
        long due = nextAsk.get();
        if (now - due >= 0 && nextAsk.compareAndSet(due, now + ASK_NANOS)) {
            fetches.fetchInBackground(executor);
        }
    }

    /**
     * A request that the schedule asks for.
     *
     * @param id the id of the request
     * @param uri the address
     * @param etag what to send as {@code If-None-Match}, or null
     * @param noCache whether to send {@code Cache-Control: no-cache}
     * @param maxBytes the maximum length of the body
     * @param publicOnly whether to connect to public addresses only, because the address comes from a document
     * @param timeout the time limit of the whole request
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
     * @param status the HTTP status
     * @param headers {@code ETag}, {@code Cache-Control}, {@code Age} and {@code Retry-After} are used; names are
     *     case-insensitive
     * @param body at most {@code maxBytes} of the request, or one byte more if it is longer
     */
    public record Response(int status, Map<String, String> headers, byte[] body) {
        /** Creates a response. */
        public Response {
            headers = Map.copyOf(Text.required(headers, "headers"));
            Text.required(body, "body");
        }
    }

    /**
     * Sends requests. The default is the HTTP client of the JDK without redirects, with the proxy of the system properties
     * {@code https.proxyHost} and {@code http.nonProxyHosts}. {@link #close} interrupts it.
     */
    @FunctionalInterface
    public interface Fetcher {
        /**
         * Sends a request and waits for the response, until the time limit of the request.
         *
         * @throws IOException if there is no response
         * @throws InterruptedException if the thread is interrupted
         */
        Response fetch(Request request) throws IOException, InterruptedException;
    }

    /** Builds a remote key set. */
    public static final class Builder {
        private final Settings settings = new Settings(SettingNames.REMOTE_KEYS);
        private Fetcher fetcher;
        private Executor executor;

        private Builder(String kind, String value) {
            settings.text(kind, value);
        }

        /** Sets the algorithm of keys that do not name one. */
        public Builder defaultAlgorithm(Algorithm algorithm) {
            settings.text("default_alg", Text.required(algorithm, "algorithm").standardName());
            return this;
        }

        // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
        /** Accepts a {@code jwks_uri} that is on another host than the issuer and has a private IP address. */
        public Builder allowPrivateAddresses() {
            settings.flag("allow_private_addresses");
            return this;
        }

        /**
         * Accepts http for all hosts. Insecure: anyone on the network can replace the keys. Loopback hosts need no
         * option.
         */
        public Builder allowPlainHttp() {
            settings.flag("allow_plain_http");
            return this;
        }

        /**
         * Sets the age at which keys are fetched again, in the background. {@code Cache-Control: max-age} of the
         * response takes precedence. The default is 5 minutes. It must be whole seconds.
         */
        public Builder freshFor(Duration freshFor) {
            settings.seconds("fresh_for", freshFor);
            return this;
        }

        /** Sets the minimum time between two requests. The default is 30 seconds. It must be whole seconds. */
        public Builder cooldown(Duration cooldown) {
            settings.seconds("cooldown", cooldown);
            return this;
        }

        /**
         * Sets the age up to which keys are used while fetching fails. The default is 1 day. It must be whole seconds.
         */
        public Builder usableFor(Duration usableFor) {
            settings.seconds("usable_for", usableFor);
            return this;
        }

        // END SETTINGS

        /** Sets the fetcher that sends the requests. */
        public Builder fetcher(Fetcher fetcher) {
            this.fetcher = Text.required(fetcher, "fetcher");
            return this;
        }

        /**
         * Sets the executor for fetches in the background. The default is a daemon thread for each fetch. Fetches that
         * verifications wait for use a daemon thread.
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
