# Written from the tables of crates/jeton/src/key by `cargo xtask sdk algorithms`. Do not change it here.
"""The names of the signature and MAC algorithms."""

MACS = (
    "HS256", "HS384", "HS512",
)

SIGNATURES = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K",
    "EdDSA", "Ed25519", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87",
)

#: The algorithm of the keys of each curve (`crv`).
CURVES = {
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
    "secp256k1": "ES256K",
    "Ed25519": "EdDSA",
}
