package io.github.jeton.internal;

import java.lang.ref.Reference;
import java.util.List;
import java.util.Map;

/** Calls the native library with the objects of this library. */
public final class Calls {
    /** The default limit for the size of a token. */
    public static final int DEFAULT_TOKEN_BYTES = 2 << 20;

    private Calls() {}

    public static byte[] generateKey(String alg, Settings settings) {
        byte[] name = Text.utf8(alg, "algorithm");
        byte[] json = settings.bytes();
        return settings.inMethods(Native.generateKey(name, name.length, json, json.length));
    }

    public static byte[] importKey(byte[] data, Settings settings) {
        byte[] json = settings.bytes();
        try {
            return settings.inMethods(Native.importKey(data, data.length, json, json.length));
        } finally {
            java.util.Arrays.fill(json, (byte) 0); // it may contain a password
        }
    }

    public static byte[] publicKey(NativeObject key) {
        return NativeObject.call(key, Native::publicKey);
    }

    /** Returns the part of a key that {@code what} names. */
    public static byte[] exportKey(NativeObject key, String what) {
        byte[] name = Text.utf8(what, "what");
        return Reply.bytes(NativeObject.call(key, address -> Native.exportKey(address, name, name.length)));
    }

    public static byte[] newKeySet(List<? extends NativeObject> keys) {
        int[] places = new int[keys.size()];
        long[] addresses = new long[keys.size()];
        int begun = 0;
        try {
            for (NativeObject key : keys) {
                Handle handle = NativeObject.handle(Text.required(key, "key"));
                places[begun] = handle.begin();
                addresses[begun++] = handle.address();
            }
            return Native.newKeySet(addresses, addresses.length);
        } finally {
            for (int at = 0; at < begun; at++) {
                NativeObject.handle(keys.get(at)).end(places[at]);
            }
            Reference.reachabilityFence(keys);
        }
    }

    public static byte[] importKeySet(String text, Settings settings) {
        byte[] data = Text.utf8(text, "text");
        byte[] json = settings.bytes();
        return settings.inMethods(Native.importKeySet(data, data.length, json, json.length));
    }

    public static String exportKeySet(NativeObject set, String what) {
        byte[] name = Text.utf8(what, "what");
        return Reply.text(NativeObject.call(set, address -> Native.exportKeySet(address, name, name.length)));
    }

    public static byte[] newIssuer(
            NativeObject key, NativeObject encryption, NativeObject clock, Settings settings) {
        byte[] json = settings.bytes();
        return settings.inMethods(NativeObject.callOptional(key, first ->
                NativeObject.callOptional(encryption, second ->
                        NativeObject.callOptional(clock, third ->
                                Native.newIssuer(first, second, third, json, json.length)))));
    }

    /** Returns the maximum length of a reply with a token with the claims {@code {}}. */
    public static int issueBound(NativeObject issuer) {
        long bound = Reply.handle(NativeObject.call(issuer, address -> Native.issueBound(address, 0)));
        return (int) Math.min(bound, 1 << 20);
    }

    /** Issues a token. {@code bound} is the result of {@link #issueBound}. */
    public static String issue(NativeObject issuer, byte[] claims, int length, int bound) {
        // If this is too small (nested tokens), the native library creates an array.
        byte[] offered = new byte[(int) Math.min(bound + (length / 3 + 2L) * 4, Integer.MAX_VALUE - 64)];
        Handle handle = NativeObject.handle(issuer);
        int place = handle.begin();
        byte[] reply;
        try {
            reply = Native.issue(handle.address(), claims, length, offered, offered.length);
        } finally {
            handle.end(place);
            Reference.reachabilityFence(issuer);
        }
        return Reply.token(reply);
    }

    public static String issueBytes(NativeObject issuer, byte[] data) {
        Text.required(data, "data");
        return Reply.text(NativeObject.call(issuer, address -> Native.issueBytes(address, data, data.length)));
    }

    public static PreparedReply prepare(NativeObject issuer, byte[] data) {
        Text.required(data, "data");
        return new PreparedReply(NativeObject.call(issuer, address -> Native.prepare(address, data, data.length)));
    }

    /** The reply of {@link #prepare}. */
    public record PreparedReply(byte[] bytes) {}

    public static byte[] preparedInput(NativeObject prepared, String what) {
        byte[] name = Text.utf8(what, "what");
        return Reply.bytes(
                NativeObject.call(prepared, address -> Native.preparedInput(address, name, name.length)));
    }

    public static String attach(NativeObject prepared, byte[] signature, String form) {
        Text.required(signature, "signature");
        byte[] name = Text.utf8(form, "form");
        return Reply.text(NativeObject.call(prepared, address ->
                Native.attach(address, signature, signature.length, name, name.length)));
    }

    public static byte[] newVerifier(VerifierKeys keys, NativeObject clock, Settings settings) {
        byte[] json = settings.bytes();
        return settings.inMethods(NativeObject.callOptional(keys.key(), key ->
                NativeObject.callOptional(keys.set(), set ->
                        NativeObject.callOptional(keys.decryption(), decryption ->
                                NativeObject.callOptional(keys.remote(), remote ->
                                        NativeObject.callOptional(clock, time -> Native.newVerifier(
                                                key, set, decryption, remote, time, json, json.length)))))));
    }

    /** The keys of a verifier. Each may be null. */
    public record VerifierKeys(NativeObject key, NativeObject set, NativeObject decryption, NativeObject remote) {}

    /** Verifies a compact token and returns the result or the rejection. A token over the limit is not copied. */
    public static VerifiedReply verify(NativeObject verifier, String text, int limit) {
        if (Text.required(text, "token").length() > limit && !NativeObject.isClosed(verifier)) {
            return VerifiedReply.tooLarge(text.length(), limit);
        }
        byte[] token = Text.compactToken(text);
        // The claims are shorter than the token. If the rest needs more room, the native library creates an array.
        byte[] offered = new byte[Math.min(token.length, 1 << 20) + VerifiedReply.ROOM];
        Handle handle = NativeObject.handle(verifier);
        int place = handle.begin();
        try {
            return new VerifiedReply(Native.verify(handle.address(), token, token.length, offered, offered.length));
        } finally {
            handle.end(place);
            Reference.reachabilityFence(verifier);
        }
    }

    /** Returns what a token says, which is not verified. */
    public static Map<String, Object> unverified(String text) {
        return JsonReader.object(unverifiedJson(text));
    }

    /** As {@link #unverified}, with null for each number. */
    public static Map<String, Object> unverifiedWithoutNumbers(String text) {
        return JsonReader.objectWithoutNumbers(unverifiedJson(text));
    }

    private static String unverifiedJson(String text) {
        // As in `verify`, a token over the limit is not copied.
        if (Text.required(text, "token").length() > DEFAULT_TOKEN_BYTES) {
            VerifiedReply.tooLarge(text.length(), DEFAULT_TOKEN_BYTES).check();
        }
        byte[] token = Text.compactToken(text);
        return Reply.text(Native.unverified(token, token.length));
    }

    /** Returns the header of a token that the verifier has verified. It is empty for a PASETO. */
    public static Map<String, Object> verifiedHeader(NativeObject verifier, String text) {
        byte[] token = Text.compactToken(text);
        String json = Reply.text(NativeObject.call(verifier, address -> Native.verifiedHeader(address, token, token.length)));
        return json.isEmpty() ? Map.of() : JsonReader.object(json);
    }

    public static byte[] verifyBytes(NativeObject verifier, String text, byte[] content) {
        // A JWS in JSON may have any text, so an unpaired surrogate is not replaced.
        byte[] token = Text.utf8(text, "token");
        int contentLength = content == null ? 0 : content.length;
        return Reply.bytes(NativeObject.call(verifier, address ->
                Native.verifyBytes(address, token, token.length, content, contentLength)));
    }

    public static byte[] newRemoteKeys(Settings settings) {
        byte[] json = settings.bytes();
        return settings.inMethods(Native.newRemoteKeys(json, json.length));
    }

    /** Returns the next request as JSON, or an empty text. */
    public static String nextRequest(NativeObject keys) {
        return Reply.text(NativeObject.call(keys, Native::nextRequest));
    }

    /** Throws the reason if there are no keys. */
    public static void checkReady(NativeObject keys) {
        Reply.check(NativeObject.call(keys, Native::ready));
    }

    public static void respond(NativeObject keys, long id, int status, String headers, byte[] body) {
        byte[] lines = Text.utf8(headers, "headers");
        Reply.check(NativeObject.call(keys, address ->
                Native.respond(address, id, status, lines, lines.length, body, body.length)));
    }

    public static byte[] newClock(long micros) {
        return Native.newClock(micros);
    }

    public static void setClock(NativeObject clock, long micros) {
        Reply.check(NativeObject.call(clock, address -> Native.setClock(address, micros)));
    }
}
