package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import java.nio.charset.StandardCharsets;

/**
 * A token without its signature, which comes from a KMS or an HSM. The signature is verified before the token is
 * returned.
 *
 * <pre>{@code
 * PreparedToken prepared = issuer.prepare("{\"page\":\"/\"}");
 * byte[] signature = kms.sign(prepared.digest());
 * String token = prepared.attachDer(signature);
 * }</pre>
 */
public final class PreparedToken extends NativeObject {
    /** Used by the issuers of this library. */
    public PreparedToken(Calls.PreparedReply reply) {
        super(Handle.Kind.PREPARED, reply.bytes());
    }

    /** Returns the bytes to sign. */
    public byte[] message() {
        return Calls.preparedInput(this, "message");
    }

    /** Returns the hash of the message, for signers that take a hash. Fails for EdDSA. */
    public byte[] digest() {
        return Calls.preparedInput(this, "digest");
    }

    /** Returns the algorithm. */
    public Algorithm algorithm() {
        return Algorithm.of(new String(Calls.preparedInput(this, "alg"), StandardCharsets.UTF_8));
    }

    /** Adds a signature in the encoding of tokens. It can be called once, even if the signature is invalid. */
    public String attach(byte[] signature) {
        return Calls.attach(this, signature, "fixed");
    }

    /**
     * Adds an ECDSA signature in DER, as most signers return it. It can be called once, even if the signature is
     * invalid.
     */
    public String attachDer(byte[] signature) {
        return Calls.attach(this, signature, "der");
    }
}
