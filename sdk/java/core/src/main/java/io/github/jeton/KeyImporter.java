package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.JdkKeys;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import java.security.KeyStore;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;

/**
 * Imports a key with settings.
 *
 * <pre>{@code
 * Key key = Key.importer().algorithm(Algorithm.RS256).keyId("2026-01").text(pem);
 * }</pre>
 */
public final class KeyImporter {
    private final Settings settings = new Settings(SettingNames.KEY);

    KeyImporter() {}

    /** Sets the algorithm of a key that does not name one. */
    public KeyImporter algorithm(Algorithm algorithm) {
        settings.text("alg", Text.required(algorithm, "algorithm").standardName());
        return this;
    }

    // BEGIN SETTINGS: written by `cargo xtask sdk settings`.
    /** Sets the content encryption algorithm of a key for {@code dir}. */
    public KeyImporter contentEncryption(String contentEncryption) {
        settings.text("enc", contentEncryption);
        return this;
    }

    /** Sets the key id ({@code kid}). */
    public KeyImporter keyId(String keyId) {
        settings.text("kid", keyId);
        return this;
    }

    /** Sets the password of an encrypted PKCS#8 key or PASERK. */
    public KeyImporter password(String password) {
        settings.text("password", password);
        return this;
    }

    // END SETTINGS

    /** Imports a JWK, a PEM or a PASERK. */
    public Key text(String text) {
        return read(Text.utf8(text, "text"), "any");
    }

    /** Imports a key in any encoding: DER, or text in UTF-8. */
    public Key bytes(byte[] data) {
        return read(data, "any");
    }

    /** Imports the bytes of a secret. */
    public Key secret(byte[] secret) {
        return read(secret, "secret");
    }

    /** Imports a secret from base64 or base64url, with or without padding. */
    public Key secretBase64(String text) {
        return read(Text.utf8(text, "text"), "secret-base64");
    }

    /** Imports the public key of an X.509 certificate in PEM or DER. Does not verify the certificate. */
    public Key certificate(byte[] certificate) {
        return read(certificate, "certificate");
    }

    /** Imports the public key of an X.509 certificate. Does not verify the certificate. */
    public Key certificate(X509Certificate certificate) {
        try {
            return certificate(Text.required(certificate, "certificate").getEncoded());
        } catch (CertificateEncodingException impossible) {
            throw new JetonException(ErrorCode.KEY_MALFORMED, "`certificate` cannot be encoded", impossible);
        }
    }

    /**
     * Imports a public key, a private key or a secret key of the JDK.
     *
     * @throws JetonException with {@code KEY_UNSUPPORTED} if the key has no encoding, because it stays in its provider:
     *     {@link Issuer.Builder#signWith} takes such a private key
     */
    public Key key(java.security.Key key) {
        byte[] encoding = JdkKeys.encoding(key);
        try {
            return read(encoding, key instanceof javax.crypto.SecretKey ? "secret" : "any");
        } finally {
            Arrays.fill(encoding, (byte) 0);
        }
    }

    /**
     * Imports an entry of a key store: a private key, a secret key, or the public key of a trusted certificate. Does
     * not verify the certificate. The password may be null if the entry has none.
     *
     * @throws JetonException with {@code KEY_UNSUPPORTED} if the key has no encoding, because it stays in its provider
     */
    public Key keyStore(KeyStore store, String alias, char[] password) {
        return key(JdkKeys.entry(store, alias, password));
    }

    /**
     * Imports a secret that may be shorter than its hash, for a system whose secret cannot be changed.
     *
     * <p>Insecure: a short secret can be guessed.
     */
    public Key insecureSecret(byte[] secret) {
        return read(secret, "insecure-secret");
    }

    /**
     * Imports a public RSA key below 2,048 bits as JWK, PEM or DER, for a system whose key cannot be changed.
     *
     * <p>Insecure: such a key can be factored.
     */
    public Key insecureRsa(byte[] key) {
        return read(key, "insecure-rsa");
    }

    /**
     * Imports a password that encrypts and decrypts JWEs (PBES2), with a number of rounds for encryption.
     *
     * <p>Insecure: anyone who has a token can guess the password.
     */
    public Key insecurePassword(byte[] password, int rounds) {
        Text.required(password, "password");
        Settings all = settings.copy().text("format", "insecure-password").number("rounds", rounds);
        return new Key(Calls.importKey(password, all));
    }

    private Key read(byte[] data, String format) {
        Text.required(data, "key");
        return new Key(Calls.importKey(data, settings.copy().text("format", format)));
    }
}
