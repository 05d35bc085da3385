// Written from the tables of crates/jeton/src/key by `cargo xtask sdk algorithms`. Do not change it here.

/** Signature algorithms. */
export type SignatureAlgorithm =
  | 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512'
  | 'ES256' | 'ES384' | 'ES512' | 'ES256K' | 'EdDSA' | 'Ed25519'
  | 'ML-DSA-44' | 'ML-DSA-65' | 'ML-DSA-87'

/** MAC algorithms, which use a secret. */
export type MacAlgorithm =
  | 'HS256' | 'HS384' | 'HS512'

/** Key management algorithms, which encrypt or derive the content encryption key. */
export type KeyManagementAlgorithm =
  | 'dir' | 'A128KW' | 'A192KW' | 'A256KW' | 'A128GCMKW' | 'A192GCMKW'
  | 'A256GCMKW' | 'RSA-OAEP' | 'RSA-OAEP-256' | 'RSA-OAEP-384' | 'RSA-OAEP-512' | 'ECDH-ES'
  | 'ECDH-ES+A128KW' | 'ECDH-ES+A192KW' | 'ECDH-ES+A256KW'

/** Key management algorithms that use a password. */
export type PasswordAlgorithm =
  | 'PBES2-HS256+A128KW' | 'PBES2-HS384+A192KW' | 'PBES2-HS512+A256KW'

/** PASETO versions and purposes. */
export type PasetoAlgorithm =
  | 'v3.local' | 'v3.public' | 'v4.local' | 'v4.public'

/** The algorithm of a key. */
export type Algorithm =
  | SignatureAlgorithm
  | MacAlgorithm
  | KeyManagementAlgorithm
  | PasswordAlgorithm
  | PasetoAlgorithm

/** Content encryption algorithms. */
export type ContentEncryption =
  | 'A128CBC-HS256' | 'A192CBC-HS384' | 'A256CBC-HS512' | 'A128GCM' | 'A192GCM' | 'A256GCM'
