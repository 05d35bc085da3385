package io.github.jeton.internal;

import io.github.jeton.Algorithm;
import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.PreparedToken;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Signature;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;

/** Signs tokens with a private key of a JCA provider. A {@code Signature} is not thread-safe, so each token has one. */
public final class JcaSigner {
    private final PrivateKey key;
    private final Provider provider;
    private final String name;
    private final AlgorithmParameterSpec parameters;
    private final boolean isDer;

    /**
     * Creates a signer. The provider may be null: then the JVM selects one that knows the key.
     *
     * @throws JetonException if no provider can sign with the key
     */
    public JcaSigner(Algorithm algorithm, PrivateKey key, Provider provider) {
        this.key = key;
        this.provider = provider;
        this.name = name(algorithm);
        this.parameters = parameters(algorithm);
        this.isDer = name.endsWith("ECDSA");
        try {
            signature();
        } catch (NoSuchAlgorithmException | InvalidKeyException unusable) {
            String who = provider == null ? "every provider of this JVM" : "the provider " + provider.getName();
            throw new JetonException(
                    ErrorCode.KEY_TYPE_MISMATCH,
                    "option `signWith`: " + who + " refuses to sign " + algorithm.standardName() + " with a key of "
                            + key.getClass().getName(),
                    unusable);
        } catch (GeneralSecurityException failed) {
            throw failed(failed);
        }
    }

    /** Signs a token. */
    public String sign(PreparedToken prepared) {
        byte[] signed;
        try (prepared) {
            try {
                Signature signature = signature();
                signature.update(prepared.message());
                signed = signature.sign();
            } catch (GeneralSecurityException failed) {
                throw failed(failed);
            }
            return isDer ? prepared.attachDer(signed) : prepared.attach(signed);
        }
    }

    private static JetonException failed(GeneralSecurityException failed) {
        return new JetonException(ErrorCode.SIGNER_FAILED, "the provider of the private key did not sign", failed);
    }

    private Signature signature() throws GeneralSecurityException {
        Signature signature = provider == null ? Signature.getInstance(name) : Signature.getInstance(name, provider);
        // The key selects the provider, which then gets the parameters.
        signature.initSign(key);
        if (parameters != null) {
            signature.setParameter(parameters);
        }
        return signature;
    }

    private static String name(Algorithm algorithm) {
        return switch (algorithm) {
            case RS256 -> "SHA256withRSA";
            case RS384 -> "SHA384withRSA";
            case RS512 -> "SHA512withRSA";
            case PS256, PS384, PS512 -> "RSASSA-PSS";
            case ES256, ES256K -> "SHA256withECDSA";
            case ES384, V3_PUBLIC -> "SHA384withECDSA";
            case ES512 -> "SHA512withECDSA";
            case EDDSA, ED25519, V4_PUBLIC -> "Ed25519";
            case ML_DSA_44, ML_DSA_65, ML_DSA_87 -> algorithm.standardName();
            default -> throw new JetonException(
                    ErrorCode.INVALID_OPTION,
                    "option `signWith`: " + algorithm.standardName() + " is not a signature algorithm with a public key");
        };
    }

    private static AlgorithmParameterSpec parameters(Algorithm algorithm) {
        return switch (algorithm) {
            case PS256 -> pss("SHA-256", MGF1ParameterSpec.SHA256, 32);
            case PS384 -> pss("SHA-384", MGF1ParameterSpec.SHA384, 48);
            case PS512 -> pss("SHA-512", MGF1ParameterSpec.SHA512, 64);
            default -> null;
        };
    }

    private static PSSParameterSpec pss(String hash, MGF1ParameterSpec mask, int salt) {
        return new PSSParameterSpec(hash, "MGF1", mask, salt, PSSParameterSpec.TRAILER_FIELD_BC);
    }
}
