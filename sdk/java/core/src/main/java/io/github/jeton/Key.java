package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.Text;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A key with its algorithm. The secret part stays in the native library. It never changes, and many threads use it at once.
 *
 * <pre>{@code
 * Key key = Key.generate(Algorithm.ES256);
 * String published = key.publicKey().toJwk();
 * }</pre>
 *
 * <p>The first private key that a thread generates or loads makes one signature, which prepares the random generator.
 */
public final class Key extends NativeObject {
    Key(byte[] reply) {
        super(Handle.Kind.KEY, reply);
    }

    /** What part of a key it is. */
    public enum Kind {
        /** One secret for both sides. */
        SYMMETRIC,
        /** Signs or decrypts. */
        PRIVATE,
        /** Verifies or encrypts. */
        PUBLIC
    }

    /** The form of a key as text or bytes. */
    public enum Form {
        /** JSON (RFC 7517). */
        JWK("jwk"),
        /** PEM: PKCS #8, or SPKI for a public key. */
        PEM("pem"),
        /** DER of the same. */
        DER("der"),
        /** The form of PASETO. */
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

    /** Generates a key with settings. */
    public static KeyGenerator generator(Algorithm algorithm) {
        return new KeyGenerator(algorithm);
    }

    /** Imports a JWK, a PEM or a PASERK that says its algorithm. */
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

    /** Imports a key with settings. */
    public static KeyImporter importer() {
        return new KeyImporter();
    }

    /** Returns the public key. A symmetric key has none. */
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

    /** Returns what part it is. */
    public Kind kind() {
        return switch (export("kind")) {
            case "symmetric" -> Kind.SYMMETRIC;
            case "private" -> Kind.PRIVATE;
            default -> Kind.PUBLIC;
        };
    }

    /** Returns the id that tokens name ({@code kid}). That of a PASETO key follows from the key. */
    public Optional<String> keyId() {
        return Optional.of(export("kid")).filter(id -> !id.isEmpty());
    }

    /** Returns the thumbprint of RFC 7638. A PASETO key has none. */
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

    /** Returns the public key as a PASERK. */
    public String toPaserk() {
        return export("paserk");
    }

    /**
     * Returns the key with its secret part. The bytes are the program's: it wipes them.
     *
     * <p>Insecure: anyone who has these bytes has the key.
     */
    public byte[] insecureExport(Form form) {
        return Calls.exportKey(this, "insecure-" + Text.required(form, "form").name);
    }
}
