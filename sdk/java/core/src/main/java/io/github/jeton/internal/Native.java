package io.github.jeton.internal;

/**
 * The functions of the native library. Each returns a reply for {@link Reply}. A handle is the address of a value,
 * protected by {@link Handle}.
 */
final class Native {
    static {
        NativeLibrary.load();
    }

    private Native() {}

    static native byte[] version();

    static native byte[] release(int kind, long handle);

    static native byte[] generateKey(byte[] alg, int algLength, byte[] settings, int settingsLength);

    static native byte[] importKey(byte[] data, int dataLength, byte[] settings, int settingsLength);

    static native byte[] publicKey(long key);

    static native byte[] exportKey(long key, byte[] what, int whatLength);

    static native byte[] newKeySet(long[] keys, int count);

    static native byte[] importKeySet(byte[] text, int textLength, byte[] settings, int settingsLength);

    static native byte[] exportKeySet(long set, byte[] what, int whatLength);

    static native byte[] newIssuer(long key, long encryption, long clock, byte[] settings, int settingsLength);

    static native byte[] issueBound(long issuer, int claimsLength);

    static native byte[] issue(long issuer, byte[] claims, int claimsLength, byte[] offered, int capacity);

    static native byte[] issueBytes(long issuer, byte[] data, int dataLength);

    static native byte[] prepare(long issuer, byte[] data, int dataLength);

    static native byte[] preparedInput(long prepared, byte[] what, int whatLength);

    static native byte[] attach(long prepared, byte[] signature, int signatureLength, byte[] form, int formLength);

    static native byte[] newVerifier(
            long key, long set, long decryption, long remote, long clock, byte[] settings, int settingsLength);

    static native byte[] verify(long verifier, byte[] token, int tokenLength, byte[] offered, int capacity);

    static native byte[] verifyBytes(long verifier, byte[] token, int tokenLength, byte[] content, int contentLength);

    /** Returns the header of a token that the verifier has verified, JSON text. It is empty for a PASETO. */
    static native byte[] verifiedHeader(long verifier, byte[] token, int tokenLength);

    /** Returns JSON text: what a token says, which is not verified. */
    static native byte[] unverified(byte[] token, int tokenLength);

    static native byte[] newRemoteKeys(byte[] settings, int settingsLength);

    static native byte[] nextRequest(long keys);

    static native byte[] ready(long keys);

    static native byte[] respond(
            long keys, long id, int status, byte[] headers, int headersLength, byte[] body, int bodyLength);

    static native byte[] newClock(long micros);

    static native byte[] setClock(long clock, long micros);

    /** Makes the next call panic. Exists only in the library for tests. */
    static native void testPanicNext();
}
