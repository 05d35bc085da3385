package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads replies of the native library: a status, a length, and the result. */
public final class Reply {
    /** The status and the length. */
    static final int HEAD = 8;

    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Reply() {}

    static int int32(byte[] reply, int at) {
        return (int) INT.get(reply, at);
    }

    static long int64(byte[] reply, int at) {
        return (long) LONG.get(reply, at);
    }

    static boolean isFailure(byte[] reply) {
        return int32(reply, 0) != 0;
    }

    /** Returns the reply of a failed call: the name of the code, a line feed and the message. */
    static byte[] failure(String text) {
        byte[] message = text.getBytes(StandardCharsets.UTF_8);
        byte[] reply = new byte[HEAD + message.length];
        INT.set(reply, 0, 1);
        INT.set(reply, 4, message.length);
        System.arraycopy(message, 0, reply, HEAD, message.length);
        return reply;
    }

    static int length(byte[] reply) {
        return int32(reply, 4);
    }

    /** Throws the error of a reply if the call failed. */
    static byte[] check(byte[] reply) {
        if (isFailure(reply)) {
            throw exception(reply);
        }
        return reply;
    }

    static long handle(byte[] reply) {
        return int64(check(reply), HEAD);
    }

    static byte[] bytes(byte[] reply) {
        return Arrays.copyOfRange(check(reply), HEAD, HEAD + length(reply));
    }

    static String text(byte[] reply) {
        return new String(check(reply), HEAD, length(reply), StandardCharsets.UTF_8);
    }

    /** Returns the text of a token. */
    static String token(byte[] reply) {
        // Tokens are ASCII, so this only copies.
        return new String(check(reply), HEAD, length(reply), StandardCharsets.ISO_8859_1);
    }

    /** Why a call failed. */
    record Failure(ErrorCode code, String message) {}

    static Failure reason(byte[] reply) {
        String text = new String(reply, HEAD, length(reply), StandardCharsets.UTF_8);
        int end = text.indexOf('\n');
        return new Failure(code(text.substring(0, end)), text.substring(end + 1));
    }

    private static ErrorCode code(String name) {
        try {
            return ErrorCode.valueOf(name);
        } catch (IllegalArgumentException unknown) {
            return ErrorCode.INTERNAL;
        }
    }

    private static JetonException exception(byte[] reply) {
        Failure failure = reason(reply);
        return failure.code().name().startsWith("TOKEN_")
                ? new TokenRejectedException(failure.code(), failure.message())
                : new JetonException(failure.code(), failure.message());
    }
}
