package io.github.jeton.internal;

import io.github.jeton.RemoteKeySet.Fetcher;
import io.github.jeton.RemoteKeySet.Request;
import io.github.jeton.RemoteKeySet.Response;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.Arrays;
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
    private static final String AGENT = "jeton-java/" + NativeLibrary.VERSION;

    /** One client for all key sets, because it has a thread and a connection pool. */
    private static final class Shared {
        static final HttpClient CLIENT = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(new SystemProxy())
                .build();
    }

    /** The proxy of the system properties, {@code https.proxyHost} and {@code http.nonProxyHosts}, for https. */
    private static final class SystemProxy extends ProxySelector {
        @Override
        public List<Proxy> select(URI uri) {
            ProxySelector system = ProxySelector.getDefault();
            boolean isDirect = system == null || !"https".equals(uri.getScheme()) || isLoopback(uri.getHost());
            return isDirect ? List.of(Proxy.NO_PROXY) : system.select(uri);
        }

        @Override
        public void connectFailed(URI uri, SocketAddress address, IOException failed) {
            ProxySelector system = ProxySelector.getDefault();
            if (system != null) {
                system.connectFailed(uri, address, failed);
            }
        }
    }

    private static boolean isLoopback(String host) {
        return host == null || host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]");
    }

    /** Returns whether a request goes through a proxy, which resolves the name itself. */
    private static boolean isProxied(URI uri) {
        return new SystemProxy().select(uri).stream().anyMatch(proxy -> proxy.type() != Proxy.Type.DIRECT);
    }

    @Override
    public Response fetch(Request request) throws IOException, InterruptedException {
        String host = request.uri().getHost();
        // Behind a proxy, this machine may not resolve the name. The library has checked a literal address.
        if (request.publicOnly() && !isProxied(request.uri())) {
            checkPublic(host);
        }
        HttpRequest.Builder builder = HttpRequest.newBuilder(request.uri())
                .timeout(request.timeout())
                .header("Accept", "application/jwk-set+json, application/json")
                .header("Accept-Encoding", "identity")
                .header("User-Agent", AGENT);
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
        for (String name : new String[] {"ETag", "Cache-Control", "Age", "Retry-After"}) {
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

    /** Returns whether an address is globally reachable. The rules match jeton-jwks ({@code network.rs}). */
    static boolean isPublic(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == 4 ? isPublic(bytes, 0) : isPublicV6(bytes);
    }

    private static boolean isPublicV6(byte[] bytes) {
        int first = pair(bytes, 0);
        int second = pair(bytes, 2);
        boolean isMiddleZero = Arrays.equals(bytes, 4, 12, new byte[8], 0, 8);
        // An IPv4-mapped address is already an Inet4Address. NAT64 and 6to4 lead to the IPv4 address in them.
        if (first == 0x64 && second == 0xff9b && isMiddleZero) {
            return isPublic(bytes, 12);
        }
        if (first == 0x2002) {
            return isPublic(bytes, 2);
        }
        boolean isProtocolAssignment = first == 0x2001 && second < 0x200;
        boolean isDocumentation = first == 0x2001 && second == 0xdb8 || first == 0x3fff && second < 0x1000;
        // Only 2000::/3 is assigned for global unicast.
        return (first & 0xe000) == 0x2000 && !isProtocolAssignment && !isDocumentation;
    }

    /** Returns whether the IPv4 address at this place is public (the special-purpose registries of RFC 6890). */
    private static boolean isPublic(byte[] bytes, int at) {
        int first = bytes[at] & 0xff;
        int second = bytes[at + 1] & 0xff;
        int third = bytes[at + 2] & 0xff;
        boolean isPrivate = first == 0 || first == 10 || first == 127
                || first == 169 && second == 254
                || first == 172 && (second & 0xf0) == 16
                || first == 192 && second == 168
                || first == 100 && (second & 0xc0) == 64;
        boolean isSpecial = first == 192 && second == 0 && (third == 0 || third == 2)
                || first == 192 && second == 88 && third == 99
                || first == 198 && (second & 0xfe) == 18
                || first == 198 && second == 51 && third == 100
                || first == 203 && second == 0 && third == 113;
        return first < 224 && !isPrivate && !isSpecial;
    }

    private static int pair(byte[] bytes, int at) {
        return (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
    }
}
