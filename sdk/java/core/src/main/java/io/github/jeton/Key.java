package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.JdkKeys;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.Text;
import java.nio.charset.StandardCharsets;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.util.Optional;

/**
 * A key with its algorithm. The secret part stays in the native library. It is immutable and thread-safe.
 *
 * <pre>{@code
 * Key key = Key.generate(Algorithm.ES256);
 * String published = key.publicKey().toJwk();
 * }</pre>
 *
 * <p>The first private key that a thread generates or loads creates one signature, which prepares the random generator.
 */
public final class Key extends NativeObject {
    Key(byte[] reply) {
        super(Handle.Kind.KEY, reply);
    }

    /** The kind of a key. */
    public enum Kind {
        /** A secret that both sides share. */
        SYMMETRIC,
        /** Signs or decrypts. */
        PRIVATE,
        /** Verifies or encrypts. */
        PUBLIC
    }

    /** The encoding of a key. */
    public enum Form {
        /** JSON (RFC 7517). */
        JWK("jwk"),
        /** PEM: PKCS #8, or SPKI for a public key. */
        PEM("pem"),
        /** DER: PKCS #8, or SPKI for a public key. */
        DER("der"),
        /** The key format of PASETO. */
        PASERK("paserk");

        private final String name;

        Form(String name) {
            this.name = name;
        }
    }

    /** Generates a key. */
    public static Key generate(Algorithm algorithm) {
        return generator(algorithm).generate();
    }

    /** Creates a generator with settings. */
    public static KeyGenerator generator(Algorithm algorithm) {
        return new KeyGenerator(algorithm);
    }

    /** Imports a JWK, a PEM or a PASERK that names its algorithm. */
    public static Key of(String text) {
        return importer().text(text);
    }

    /** Imports a JWK, a PEM or a PASERK for an algorithm. */
    public static Key of(String text, Algorithm algorithm) {
        return importer().algorithm(algorithm).text(text);
    }

    /** Imports the bytes of a secret. */
    public static Key ofSecret(byte[] secret, Algorithm algorithm) {
        return importer().algorithm(algorithm).secret(secret);
    }

    /**
     * Imports a public key, a private key or a secret key of the JDK for an algorithm.
     *
     * @throws JetonException with {@code KEY_UNSUPPORTED} if the key has no encoding, because it stays in its provider:
     *     {@link Issuer.Builder#signWith} takes such a private key
     */
    public static Key of(java.security.Key key, Algorithm algorithm) {
        return importer().algorithm(algorithm).key(key);
    }

    /** Imports the public key of a certificate for an algorithm. Does not verify the certificate. */
    public static Key of(X509Certificate certificate, Algorithm algorithm) {
        return importer().algorithm(algorithm).certificate(certificate);
    }

    /** Creates an importer with settings. */
    public static KeyImporter importer() {
        return new KeyImporter();
    }

    /** Returns the public key. Fails for a symmetric key. */
    public Key publicKey() {
        return new Key(Calls.publicKey(this));
    }

    private String export(String what) {
        return new String(Calls.exportKey(this, what), StandardCharsets.UTF_8);
    }

    /** Returns the algorithm. */
    public Algorithm algorithm() {
        return Algorithm.of(export("alg"));
    }

    /** Returns the kind. */
    public Kind kind() {
        return switch (export("kind")) {
            case "symmetric" -> Kind.SYMMETRIC;
            case "private" -> Kind.PRIVATE;
            default -> Kind.PUBLIC;
        };
    }

    /** Returns the key id ({@code kid}). The id of a PASETO key is derived from the key. */
    public Optional<String> keyId() {
        return Optional.of(export("kid")).filter(id -> !id.isEmpty());
    }

    /** Returns the thumbprint (RFC 7638). Fails for a PASETO key. */
    public String thumbprint() {
        return export("thumbprint");
    }

    /** Returns the thumbprint as a URI (RFC 9278). */
    public String thumbprintUri() {
        return export("thumbprint-uri");
    }

    /** Returns the public key as a JWK. */
    public String toJwk() {
        return export("jwk");
    }

    /** Returns the public key as PEM. */
    public String toPem() {
        return export("pem");
    }

    /** Returns the public key as DER. */
    public byte[] toDer() {
        return Calls.exportKey(this, "der");
    }

    /**
     * Returns the public key as a key of the JDK.
     *
     * @throws JetonException with {@code KEY_UNSUPPORTED} if no provider of the JVM has such keys
     */
    public PublicKey toPublicKey() {
        return JdkKeys.publicKey(algorithm(), toDer());
    }

    /** Returns the public key as a PASERK. */
    public String toPaserk() {
        return export("paserk");
    }

    /**
     * Returns the key with its secret part. The caller must wipe the bytes.
     *
     * <p>Insecure: anyone who has these bytes has the key.
     */
    public byte[] insecureExport(Form form) {
        return Calls.exportKey(this, "insecure-" + Text.required(form, "form").name);
    }
}
