package io.github.jeton.internal;

import io.github.jeton.RemoteKeySet.Fetcher;
import io.github.jeton.RemoteKeySet.Request;
import io.github.jeton.RemoteKeySet.Response;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Fetches with the HTTP client of the JDK. */
public final class HttpFetcher implements Fetcher {
    /** One client for all key sets, because it has a thread and a connection pool. */
    private static final class Shared {
        static final HttpClient CLIENT = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    @Override
    public Response fetch(Request request) throws IOException, InterruptedException {
        if (request.publicOnly()) {
            checkPublic(request.uri().getHost());
        }
        HttpRequest.Builder builder = HttpRequest.newBuilder(request.uri())
                .timeout(request.timeout())
                .header("Accept", "application/jwk-set+json, application/json");
        if (request.etag() != null) {
            builder.header("If-None-Match", request.etag());
        }
        if (request.noCache()) {
            builder.header("Cache-Control", "no-cache");
        }
        // The time limit of the client excludes the body; this one includes it.
        CompletableFuture<HttpResponse<byte[]>> sent = Shared.CLIENT.sendAsync(
                builder.build(), headers -> new UpTo(Math.addExact(request.maxBytes(), 1)));
        try {
            return read(sent.get(request.timeout().toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException failed) {
            throw new IOException("no response", failed.getCause());
        } catch (TimeoutException late) {
            throw new IOException("no response in time");
        } finally {
            // Closes the connection if the response is not complete.
            sent.cancel(true);
        }
    }

    private static Response read(HttpResponse<byte[]> response) {
        Map<String, String> headers = new HashMap<>();
        for (String name : new String[] {"ETag", "Cache-Control", "Age"}) {
            var values = response.headers().allValues(name);
            if (!values.isEmpty()) {
                headers.put(name, String.join(", ", values));
            }
        }
        return new Response(response.statusCode(), headers, response.body());
    }

    /** Reads the beginning of a body without blocking a thread. */
    private static final class UpTo implements HttpResponse.BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int limit;
        private Flow.Subscription subscription;

        UpTo(int limit) {
            this.limit = limit;
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(1);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                byte[] part = new byte[Math.min(buffer.remaining(), limit - bytes.size())];
                buffer.get(part);
                bytes.writeBytes(part);
            }
            if (bytes.size() < limit) {
                subscription.request(1);
            } else {
                subscription.cancel();
                onComplete();
            }
        }

        @Override
        public void onError(Throwable failed) {
            body.completeExceptionally(failed);
        }

        @Override
        public void onComplete() {
            body.complete(bytes.toByteArray());
        }
    }

    /**
     * Throws for a private address, because the address comes from a document of another party. The client resolves the
     * name again, so a DNS change after this check is not detected.
     */
    private static void checkPublic(String host) throws IOException {
        for (InetAddress address : InetAddress.getAllByName(host)) {
            if (!isPublic(address)) {
                throw new IOException("the address is not public");
            }
        }
    }

    static boolean isPublic(InetAddress address) {
        if (address.isLoopbackAddress() || address.isAnyLocalAddress() || address.isLinkLocalAddress()
                || address.isSiteLocalAddress() || address.isMulticastAddress()) {
            return false;
        }
        byte[] bytes = address.getAddress();
        int first = bytes[0] & 0xff;
        int second = bytes[1] & 0xff;
        if (address instanceof Inet6Address) {
            // Unique local addresses, and prefixes that embed an IPv4 address.
            boolean isUniqueLocal = (first & 0xfe) == 0xfc;
            boolean isTranslated = first == 0 && second == 0x64 || first == 0x20 && second == 0x02 || first == 0;
            return !isUniqueLocal && !isTranslated;
        }
        // This network, shared address space, protocol assignments, benchmarks and reserved addresses.
        return first != 0
                && !(first == 100 && (second & 0xc0) == 64)
                && !(first == 192 && second == 0)
                && !(first == 198 && (second & 0xfe) == 18)
                && first < 240;
    }
}
