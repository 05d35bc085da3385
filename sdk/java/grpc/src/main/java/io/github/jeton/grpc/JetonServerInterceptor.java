package io.github.jeton.grpc;

import io.github.jeton.JetonException;
import io.github.jeton.KeySetException;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.TokenVerifier;
import io.github.jeton.VerifiedToken;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Objects;

/**
 * Accepts only calls with a verified bearer token.
 *
 * <pre>{@code
 * Server server = NettyServerBuilder.forPort(8443)
 *     .addService(new Visits())
 *     .intercept(JetonServerInterceptor.of(verifier))
 *     .build();
 * }</pre>
 *
 * <p>In the service, {@link #TOKEN} has the token: {@code JetonServerInterceptor.TOKEN.get().subject()}. A call without
 * a valid token ends with {@code UNAUTHENTICATED}. If the keys cannot be fetched or used, it ends with {@code
 * UNAVAILABLE}, so that clients retry. After a mistake of the server, such as a closed verifier, it ends with {@code
 * INTERNAL}.
 */
public final class JetonServerInterceptor implements ServerInterceptor {
    /** The verified token of the call. */
    public static final Context.Key<VerifiedToken> TOKEN = Context.key("io.github.jeton.token");

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final String SCHEME = "bearer ";

    private final TokenVerifier verifier;

    private JetonServerInterceptor(TokenVerifier verifier) {
        this.verifier = verifier;
    }

    /** Creates an interceptor with a verifier. */
    public static JetonServerInterceptor of(TokenVerifier verifier) {
        return new JetonServerInterceptor(Objects.requireNonNull(verifier, "verifier"));
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        VerifiedToken token;
        try {
            String bearer = bearer(headers);
            if (bearer == null) {
                return close(call, Status.UNAUTHENTICATED.withDescription("no bearer token"));
            }
            token = verifier.verify(bearer);
        } catch (TokenRejectedException rejected) {
            return close(call, Status.UNAUTHENTICATED.withDescription(rejected.code().name()));
        } catch (KeySetException unavailable) {
            return close(call, Status.UNAVAILABLE.withDescription(unavailable.code().name()).withCause(unavailable));
        } catch (JetonException failed) {
            return close(call, Status.INTERNAL.withDescription(failed.code().name()).withCause(failed));
        }
        return Contexts.interceptCall(Context.current().withValue(TOKEN, token), call, headers, next);
    }

    /** Returns the token, or null. Several headers are rejected, because other programs may read another one. */
    private static String bearer(Metadata headers) {
        Iterable<String> all = headers.getAll(AUTHORIZATION);
        if (all == null) {
            return null;
        }
        var values = all.iterator();
        String value = values.next();
        boolean isBearer = value.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
        return isBearer && !values.hasNext() ? value.substring(SCHEME.length()).strip() : null;
    }

    private static <Q, R> ServerCall.Listener<Q> close(ServerCall<Q, R> call, Status status) {
        call.close(status, new Metadata());
        return new ServerCall.Listener<>() {};
    }
}
