package io.github.jeton;

// Written from the tables of crates/jeton/src/key by `cargo xtask sdk algorithms`. Do not change it here.

/** What a key is for: an algorithm of RFC 7518 and its successors, or a version and purpose of PASETO. */
public enum Algorithm {
    /** HMAC with SHA-256. */
    HS256("HS256"),
    /** HMAC with SHA-384. */
    HS384("HS384"),
    /** HMAC with SHA-512. */
    HS512("HS512"),
    /** RSASSA-PKCS1-v1_5, SHA-256. */
    RS256("RS256"),
    /** RSASSA-PKCS1-v1_5, SHA-384. */
    RS384("RS384"),
    /** RSASSA-PKCS1-v1_5, SHA-512. */
    RS512("RS512"),
    /** RSASSA-PSS, SHA-256, salt of 32. */
    PS256("PS256"),
    /** RSASSA-PSS, SHA-384, salt of 48. */
    PS384("PS384"),
    /** RSASSA-PSS, SHA-512, salt of 64. */
    PS512("PS512"),
    /** ECDSA on P-256, SHA-256. */
    ES256("ES256"),
    /** ECDSA on P-384, SHA-384. */
    ES384("ES384"),
    /** ECDSA on P-521, SHA-512. */
    ES512("ES512"),
    /** ECDSA on secp256k1, SHA-256 (RFC 8812). */
    ES256K("ES256K"),
    /** Ed25519 with the name of RFC 8037. */
    EDDSA("EdDSA"),
    /** Ed25519 with the name of RFC 9864. */
    ED25519("Ed25519"),
    /** ML-DSA (FIPS 204), empty context. */
    ML_DSA_44("ML-DSA-44"),
    /** ML-DSA (FIPS 204), empty context. */
    ML_DSA_65("ML-DSA-65"),
    /** ML-DSA (FIPS 204), empty context. */
    ML_DSA_87("ML-DSA-87"),
    /** The secret encrypts the content of JWEs. */
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
    /** Diffie-Hellman on an elliptic curve: the agreed key encrypts the content. */
    ECDH_ES("ECDH-ES"),
    /** Diffie-Hellman with AES key wrap of 128 bits. */
    ECDH_ES_A128KW("ECDH-ES+A128KW"),
    /** Diffie-Hellman with AES key wrap of 192 bits. */
    ECDH_ES_A192KW("ECDH-ES+A192KW"),
    /** Diffie-Hellman with AES key wrap of 256 bits. */
    ECDH_ES_A256KW("ECDH-ES+A256KW"),
    /** A password for JWEs (PBES2), imported with {@link KeyImporter#insecurePassword}. */
    PBES2_HS256_A128KW("PBES2-HS256+A128KW"),
    /** A password for JWEs (PBES2), imported with {@link KeyImporter#insecurePassword}. */
    PBES2_HS384_A192KW("PBES2-HS384+A192KW"),
    /** A password for JWEs (PBES2), imported with {@link KeyImporter#insecurePassword}. */
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

    /** Returns the name in the standard, which is also the value of {@code alg}. */
    public String standardName() {
        return standardName;
    }

    /** Returns whether this is a PASETO algorithm. */
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
        throw new JetonException(ErrorCode.INVALID_OPTION, "option `algorithm`: not a supported algorithm");
    }
}
