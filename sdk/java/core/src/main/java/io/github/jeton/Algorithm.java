package io.github.jeton;

/** What a key is for: an algorithm of RFC 7518 and its successors, or a version and purpose of PASETO. */
public enum Algorithm {
    /** HMAC with SHA-256. */
    HS256("HS256"),
    /** HMAC with SHA-384. */
    HS384("HS384"),
    /** HMAC with SHA-512. */
    HS512("HS512"),
    /** RSA PKCS #1 v1.5 with SHA-256. */
    RS256("RS256"),
    /** RSA PKCS #1 v1.5 with SHA-384. */
    RS384("RS384"),
    /** RSA PKCS #1 v1.5 with SHA-512. */
    RS512("RS512"),
    /** RSA-PSS with SHA-256. */
    PS256("PS256"),
    /** RSA-PSS with SHA-384. */
    PS384("PS384"),
    /** RSA-PSS with SHA-512. */
    PS512("PS512"),
    /** ECDSA on P-256. */
    ES256("ES256"),
    /** ECDSA on P-384. */
    ES384("ES384"),
    /** ECDSA on P-521. */
    ES512("ES512"),
    /** ECDSA on secp256k1. */
    ES256K("ES256K"),
    /** Ed25519, with the name of RFC 8037. */
    EDDSA("EdDSA"),
    /** Ed25519, with the name of RFC 9864. */
    ED25519("Ed25519"),
    /** ML-DSA-44 (FIPS 204). */
    ML_DSA_44("ML-DSA-44"),
    /** ML-DSA-65 (FIPS 204). */
    ML_DSA_65("ML-DSA-65"),
    /** ML-DSA-87 (FIPS 204). */
    ML_DSA_87("ML-DSA-87"),
    /** A secret that encrypts the content of JWEs itself. */
    DIR("dir"),
    /** AES key wrap with 128 bits. */
    A128KW("A128KW"),
    /** AES key wrap with 192 bits. */
    A192KW("A192KW"),
    /** AES key wrap with 256 bits. */
    A256KW("A256KW"),
    /** AES-GCM key wrap with 128 bits. */
    A128GCMKW("A128GCMKW"),
    /** AES-GCM key wrap with 192 bits. */
    A192GCMKW("A192GCMKW"),
    /** AES-GCM key wrap with 256 bits. */
    A256GCMKW("A256GCMKW"),
    /** RSA-OAEP with SHA-1. */
    RSA_OAEP("RSA-OAEP"),
    /** RSA-OAEP with SHA-256. */
    RSA_OAEP_256("RSA-OAEP-256"),
    /** RSA-OAEP with SHA-384. */
    RSA_OAEP_384("RSA-OAEP-384"),
    /** RSA-OAEP with SHA-512. */
    RSA_OAEP_512("RSA-OAEP-512"),
    /** Diffie-Hellman on an elliptic curve, direct. */
    ECDH_ES("ECDH-ES"),
    /** Diffie-Hellman with AES key wrap of 128 bits. */
    ECDH_ES_A128KW("ECDH-ES+A128KW"),
    /** Diffie-Hellman with AES key wrap of 192 bits. */
    ECDH_ES_A192KW("ECDH-ES+A192KW"),
    /** Diffie-Hellman with AES key wrap of 256 bits. */
    ECDH_ES_A256KW("ECDH-ES+A256KW"),
    /** A password with PBES2, for JWEs. It is imported with {@link KeyImporter#insecurePassword}. */
    PBES2_HS256_A128KW("PBES2-HS256+A128KW"),
    /** A password with PBES2, for JWEs. */
    PBES2_HS384_A192KW("PBES2-HS384+A192KW"),
    /** A password with PBES2, for JWEs. */
    PBES2_HS512_A256KW("PBES2-HS512+A256KW"),
    /** PASETO version 3, encrypted with a secret. */
    V3_LOCAL("v3.local"),
    /** PASETO version 3, signed. */
    V3_PUBLIC("v3.public"),
    /** PASETO version 4, encrypted with a secret. */
    V4_LOCAL("v4.local"),
    /** PASETO version 4, signed. */
    V4_PUBLIC("v4.public");

    private final String standardName;

    Algorithm(String standardName) {
        this.standardName = standardName;
    }

    /** Returns the name in the standard, as {@code alg} has it. */
    public String standardName() {
        return standardName;
    }

    /** Returns whether keys of it are for PASETO. */
    public boolean isPaseto() {
        return ordinal() >= V3_LOCAL.ordinal();
    }

    /** Returns the algorithm with this name in the standard. Case counts. */
    public static Algorithm of(String standardName) {
        for (Algorithm algorithm : values()) {
            if (algorithm.standardName.equals(standardName)) {
                return algorithm;
            }
        }
        throw new JetonException(ErrorCode.INVALID_OPTION, "option `alg`: not an algorithm that is supported");
    }
}
