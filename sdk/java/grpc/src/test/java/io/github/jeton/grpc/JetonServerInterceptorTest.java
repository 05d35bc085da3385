package io.github.jeton.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.KeySet;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import io.github.jeton.testing.TestIssuer;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A gRPC server that returns the subject of the token. */
class JetonServerInterceptorTest {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    };

    private static final MethodDescriptor<String, String> WHO = MethodDescriptor.<String, String>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("test.Visits/Who")
            .setRequestMarshaller(TEXT)
            .setResponseMarshaller(TEXT)
            .build();

    /** A server on a port of this machine, and a client. */
    private static final class Served implements AutoCloseable {
        private final Server server;
        private final ManagedChannel channel;

        Served(Verifier verifier) throws IOException {
            ServerServiceDefinition service = ServerServiceDefinition.builder("test.Visits")
                    .addMethod(WHO, ServerCalls.asyncUnaryCall((request, observer) -> {
                        observer.onNext(JetonServerInterceptor.TOKEN.get().subject().orElse("nobody"));
                        observer.onCompleted();
                    }))
                    .build();
            server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                    .addService(service)
                    .intercept(JetonServerInterceptor.of(verifier))
                    .build()
                    .start();
            String address = "127.0.0.1:" + server.getPort();
            channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
        }

        /** Calls the server with these values of the header. */
        String call(String... values) {
            Metadata headers = new Metadata();
            for (String value : values) {
                headers.put(AUTHORIZATION, value);
            }
            var intercepted =
                    ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
            return ClientCalls.blockingUnaryCall(intercepted, WHO, CallOptions.DEFAULT, "");
        }

        /** Returns the status of a call. */
        Status.Code code(String token) {
            try {
                call("Bearer " + token);
                return Status.Code.OK;
            } catch (StatusRuntimeException failed) {
                return failed.getStatus().getCode();
            }
        }

        @Override
        public void close() {
            channel.shutdownNow();
            server.shutdownNow();
        }
    }

    private static String call(Verifier verifier, String... values) throws IOException {
        try (Served served = new Served(verifier)) {
            return served.call(values);
        }
    }

    private static Status refused(Verifier verifier, String... values) {
        return assertThrows(StatusRuntimeException.class, () -> call(verifier, values)).getStatus();
    }

    @Test
    void valid_token_is_accepted_and_others_are_not() throws Exception {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        Verifier verifier = issuer.verifier().build();
        String token = issuer.issue("{\"sub\":\"user-7\"}");
        assertEquals("user-7", call(verifier, "Bearer " + token));
        assertEquals("user-7", call(verifier, "bearer  " + token));

        for (String[] values : new String[][] {
            {}, {token}, {"Basic " + token}, {"Bearer "}, {"Bearer " + token + "x"}, {"Bearer " + token, "Bearer " + token}
        }) {
            assertEquals(Status.Code.UNAUTHENTICATED, refused(verifier, values).getCode());
        }
        issuer.clock().advance(Duration.ofHours(1));
        assertEquals("TOKEN_EXPIRED", refused(verifier, "Bearer " + token).getDescription());
    }

    private static Status refusedWith(RemoteKeySet.Fetcher fetcher) {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks").fetcher(fetcher).build();
        Verifier verifier = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
        return refused(verifier, "Bearer " + issuer.issue("{}"));
    }

    private static RemoteKeySet.Fetcher published(byte[] body) {
        return request -> new RemoteKeySet.Response(200, Map.of(), body);
    }

    @Test
    void missing_keys_are_unavailable() {
        Status status = refusedWith(request -> {
            throw new IOException("no network");
        });
        assertEquals(Status.Code.UNAVAILABLE, status.getCode());
        assertEquals("KEY_SET_UNREACHABLE", status.getDescription());
    }

    @Test
    void unusable_keys_are_unavailable() {
        Map.of(
                        "<html></html>", "KEY_MALFORMED",
                        "{}", "KEY_MEMBER_MISSING",
                        "{\"keys\":[]}", "KEY_SET_EMPTY",
                        "{\"keys\":[],\"keys\":[]}", "KEY_DUPLICATE_MEMBER",
                        " ".repeat((1 << 20) + 1), "KEY_TOO_LARGE")
                .forEach((body, code) -> {
                    Status status = refusedWith(published(body.getBytes(StandardCharsets.UTF_8)));
                    assertEquals(Status.Code.UNAVAILABLE, status.getCode());
                    assertEquals(code, status.getDescription());
                });
    }

    /** Issues a token with a key. */
    private static String token(Key key) {
        return Issuer.builder(key)
                .issuer("https://id.example")
                .audience("api")
                .lifetime(Duration.ofMinutes(15))
                .build()
                .issue(Map.of("sub", "user-7"));
    }

    @Test
    void codes_are_right_before_and_after_a_rotation() throws Exception {
        List<Key> all = Stream.of("old", "next", "unknown")
                .map(id -> Key.generator(Algorithm.ES256).keyId(id).generate())
                .toList();
        Key old = all.get(0);
        Key next = all.get(1);
        Key unknown = all.get(2);
        AtomicReference<String> published = new AtomicReference<>("<html></html>");
        RemoteKeySet keys = RemoteKeySet.at("https://id.example/jwks")
                .cooldown(Duration.ZERO)
                .fetcher(request -> new RemoteKeySet.Response(
                        200, Map.of(), published.get().getBytes(StandardCharsets.UTF_8)))
                .build();
        Verifier verifier = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
        try (Served served = new Served(verifier)) {
            assertEquals(Status.Code.UNAVAILABLE, served.code(token(old)));
            published.set(KeySet.of(old.publicKey()).toJwks());
            assertEquals(Status.Code.OK, served.code(token(old)));
            assertEquals(Status.Code.UNAUTHENTICATED, served.code(token(next)));

            published.set(KeySet.of(old.publicKey(), next.publicKey()).toJwks());
            assertEquals(Status.Code.OK, served.code(token(next)));
            assertEquals(Status.Code.OK, served.code(token(old)));
            assertEquals(Status.Code.UNAUTHENTICATED, served.code(token(unknown)));

            published.set(KeySet.of(next.publicKey()).toJwks());
            assertEquals(Status.Code.UNAUTHENTICATED, served.code(token(unknown)));
            assertEquals(Status.Code.UNAUTHENTICATED, served.code(token(old)));
            published.set("<html></html>");
            assertEquals(Status.Code.OK, served.code(token(next)));
        }
    }

    /** Clients retry after UNAVAILABLE, which would not help here. */
    @Test
    void mistake_of_the_server_is_internal() {
        TestIssuer issuer = TestIssuer.create("https://id.example", "api");
        Verifier closed = issuer.verifier().build();
        closed.close();
        Status status = refused(closed, "Bearer " + issuer.issue("{}"));
        assertEquals(Status.Code.INTERNAL, status.getCode());
        assertEquals("ARGUMENT_HANDLE", status.getDescription());
        RemoteKeySet keys = issuer.remoteKeys();
        Verifier withoutKeys = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
        keys.close();
        assertEquals(Status.Code.INTERNAL, refused(withoutKeys, "Bearer " + issuer.issue("{}")).getCode());
    }
}
