package io.github.jeton.internal;

import io.github.jeton.Algorithm;
import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.UnrecoverableKeyException;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.util.List;

/** Converts keys of the JDK. */
public final class JdkKeys {
    private JdkKeys() {}

    /** Returns the encoding of a key. The caller wipes it. */
    public static byte[] encoding(Key key) {
        byte[] encoding = Text.required(key, "key").getEncoded();
        if (encoding == null) {
            throw new JetonException(
                    ErrorCode.KEY_UNSUPPORTED,
                    "`key` of " + key.getClass().getName() + " has no encoding, because it stays in its provider"
                            + (key instanceof PrivateKey ? ": to sign, pass it to `Issuer.Builder.signWith`" : ""));
        }
        return encoding;
    }

    /** Returns the key of an entry, or the public key of its certificate. */
    public static Key entry(KeyStore store, String alias, char[] password) {
        Text.required(alias, "alias");
        try {
            Key key = Text.required(store, "store").getKey(alias, password);
            if (key == null && store.getCertificate(alias) != null) {
                key = store.getCertificate(alias).getPublicKey();
            }
            if (key == null) {
                throw new JetonException(ErrorCode.INVALID_OPTION, "option `alias`: the key store has no such entry");
            }
            return key;
        } catch (UnrecoverableKeyException wrong) {
            throw new JetonException(
                    ErrorCode.KEY_NOT_DECRYPTED, "the entry of the key store cannot be decrypted with `password`");
        } catch (GeneralSecurityException failed) {
            throw new JetonException(ErrorCode.INVALID_OPTION, "option `store`: the key store cannot be read", failed);
        }
    }

    /** Converts the DER of a public key. */
    public static PublicKey publicKey(Algorithm algorithm, byte[] der) {
        for (String name : factories(algorithm)) {
            try {
                return KeyFactory.getInstance(name).generatePublic(new X509EncodedKeySpec(der));
            } catch (InvalidKeySpecException | java.security.NoSuchAlgorithmException other) {
                // The next one may know the key.
            }
        }
        throw new JetonException(
                ErrorCode.KEY_UNSUPPORTED,
                "no provider of this JVM has a public key for " + algorithm.standardName() + ": use `toDer` or `toJwk`");
    }

    private static List<String> factories(Algorithm algorithm) {
        return switch (algorithm) {
            case RS256, RS384, RS512, PS256, PS384, PS512, RSA_OAEP, RSA_OAEP_256, RSA_OAEP_384, RSA_OAEP_512 ->
                List.of("RSA");
            case ES256, ES384, ES512, ES256K -> List.of("EC");
            case EDDSA, ED25519 -> List.of("EdDSA");
            case ECDH_ES, ECDH_ES_A128KW, ECDH_ES_A192KW, ECDH_ES_A256KW -> List.of("EC", "XDH");
            default -> List.of(algorithm.standardName());
        };
    }
}
