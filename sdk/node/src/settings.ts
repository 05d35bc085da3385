// Written from crates/jeton-bindings/src/settings/rows.rs by `cargo xtask sdk settings`. Do not change it here.
import type { Algorithm, ContentEncryption, SignatureAlgorithm } from './algorithms.js'
import type { Serialization } from './issuer.js'
import type { Duration } from './options.js'

/** How the value of an option is read. */
export type Kind = 'flag' | 'text' | 'texts' | 'list' | 'object' | 'seconds' | 'count' | 'limits'

/** Option names of this library, with the name in the core and the kind. */
export type Settings = Readonly<Record<string, readonly [name: string, kind: Kind]>>

/** Options of an issuer. */
export interface IssuerSettings {
  /** Sets the claim `iss`. */
  issuer?: string
  /** Sets the claim `aud`. */
  audience?: string | readonly string[]
  /**
   * Sets the claim `exp` to this time after `iat`. Without it, the claims of each token must have `exp`, unless
   * `withoutExpiry` is set.
   */
  lifetime?: Duration
  /** Issues tokens without `exp`. */
  withoutExpiry?: boolean
  /**
   * Sets the claim `iat` to this time before now, for verifiers whose clocks are behind. `exp` is also earlier, because
   * `lifetime` counts from `iat`.
   */
  issuedAgo?: Duration
  /** Sets the type in the header (`typ`). The default is `JWT` for claims. */
  type?: string
  /** Sets the content type in the header (`cty`). */
  contentType?: string
  /**
   * Adds these members to the protected header, for example `x5t`, `x5c` or `nonce`. A member that another setting or
   * the key decides is refused, for example `alg`. A nested JWT has them in its signed header.
   */
  headers?: Readonly<Record<string, unknown>>
  /** Issues access tokens (RFC 9068): the type `at+jwt`, and claims with `sub`, `jti` and `client_id`. */
  accessTokens?: boolean
  /** Sets the content encryption algorithm. The default is `A256GCM`, or the algorithm of a `dir` key. */
  contentEncryption?: ContentEncryption
  /** Creates a JWS without its content (RFC 7515, appendix F). */
  detached?: boolean
  /** Signs the content without base64url encoding (RFC 7797, `b64`: false). */
  unencoded?: boolean
  /** Sets the serialization of a JWS or a JWE. The default is `compact`. */
  serialization?: Serialization
  /** Sets the footer of a PASETO, which is authenticated but not encrypted. */
  footer?: string
  /** Sets the implicit assertion of a PASETO: data that is authenticated, but not part of the token. */
  implicitAssertion?: string
}

export const ofIssuer = {
  format: ['format', 'text'],
  issuer: ['issuer', 'text'],
  audience: ['audience', 'texts'],
  lifetime: ['lifetime', 'seconds'],
  withoutExpiry: ['without_expiry', 'flag'],
  issuedAgo: ['issued_ago', 'seconds'],
  type: ['typ', 'text'],
  contentType: ['cty', 'text'],
  headers: ['headers', 'object'],
  accessTokens: ['access_tokens', 'flag'],
  contentEncryption: ['enc', 'text'],
  detached: ['detached', 'flag'],
  unencoded: ['unencoded', 'flag'],
  serialization: ['serialization', 'text'],
  footer: ['footer', 'text'],
  implicitAssertion: ['implicit_assertion', 'text']
} satisfies Settings

/** Options of a verifier. */
export interface VerifierSettings {
  /** Accepts only tokens of this issuer (`iss`), or of one of several with `sharedKeys`. */
  issuer?: string | readonly string[]
  /**
   * Accepts several issuers that share the keys of the verifier. The verifier trusts each of the keys for each of these
   * issuers, so an issuer can sign for another.
   */
  sharedKeys?: boolean
  /** Accepts tokens of any issuer, and tokens without `iss`. */
  anyIssuer?: boolean
  /** Accepts only tokens for this audience (`aud`), or for one of several. */
  audience?: string | readonly string[]
  /** Accepts tokens for any audience, and tokens without `aud`. */
  anyAudience?: boolean
  /** Accepts tokens without `exp`. If a token has `exp`, it is still checked. */
  withoutExpiry?: boolean
  /**
   * Accepts only tokens with this type in the header (`typ`), or with one of several. The default is `JWT`, or no type.
   */
  type?: string | readonly string[]
  /** Accepts only access tokens (RFC 9068): the type `at+jwt`, and the claims that the RFC requires. */
  accessTokens?: boolean
  /** Rejects tokens that lack one of these claims. */
  required?: readonly string[]
  /**
   * Sets the allowed difference between clocks for `exp`, `nbf` and `iat`. `iat` may be 60 seconds ahead of the clock
   * in any case, unless `maxAge` is set. The default is 0.
   */
  leeway?: Duration
  /** Rejects tokens without `iat`, and tokens whose `iat` is longer ago than this. */
  maxAge?: Duration
  /** Accepts only this content encryption algorithm, or one of several. It cannot be used with a remote key set. */
  contentEncryption?: ContentEncryption | readonly ContentEncryption[]
  /** Requires this footer of a PASETO. Without it, any footer is accepted. */
  footer?: string
  /** Requires this implicit assertion of a PASETO: the same as the issuer. */
  implicitAssertion?: string
  /** Sets the serialization of a JWS or a JWE. The default is `compact`. */
  serialization?: Serialization
  /**
   * Caches up to this number of verified tokens, so that each signature is verified once. `exp`, `nbf` and `iat` are
   * still checked for each call. The default is no cache. It cannot be used with a remote key set.
   */
  cache?: number
  /** Sets limits for a token. */
  limits?: Limits
}

export const ofVerifier = {
  format: ['format', 'text'],
  issuer: ['issuer', 'texts'],
  sharedKeys: ['shared_keys', 'flag'],
  anyIssuer: ['any_issuer', 'flag'],
  audience: ['audience', 'texts'],
  anyAudience: ['any_audience', 'flag'],
  withoutExpiry: ['without_expiry', 'flag'],
  type: ['typ', 'texts'],
  accessTokens: ['access_tokens', 'flag'],
  required: ['required', 'list'],
  leeway: ['leeway', 'seconds'],
  maxAge: ['max_age', 'seconds'],
  contentEncryption: ['enc', 'texts'],
  footer: ['footer', 'text'],
  implicitAssertion: ['implicit_assertion', 'text'],
  serialization: ['serialization', 'text'],
  cache: ['cache', 'count'],
  limits: ['limits', 'limits']
} satisfies Settings

/** Limits for tokens. */
export interface Limits {
  /** Limits the length of a token, in bytes. The default is 2 MiB. */
  tokenBytes?: number
  /** Limits the length of the header after base64url decoding, in bytes. The default is 16 KiB. */
  headerBytes?: number
  /** Limits the nesting of objects and arrays. The default is 32. */
  jsonDepth?: number
  /** Limits the length of `kid`, in bytes. The default is 1024. */
  keyIdBytes?: number
  /** Limits the number of keys that are tried for a token without `kid`. The default is 8. */
  keysTried?: number
}

export const ofLimits = {
  tokenBytes: ['token_bytes', 'count'],
  headerBytes: ['header_bytes', 'count'],
  jsonDepth: ['json_depth', 'count'],
  keyIdBytes: ['key_id_bytes', 'count'],
  keysTried: ['keys_tried', 'count']
} satisfies Settings

/** Options of {@link Key.generate}. */
export interface GenerateOptions {
  /** Sets the key id (`kid`). */
  keyId?: string
  /** Sets the size of an RSA key, in bits. The default is 2048. */
  rsaBits?: number
  /** Sets the curve of a key for ECDH-ES. The default is P-256. */
  curve?: string
  /** Sets the content encryption algorithm of a key for `dir`. */
  contentEncryption?: ContentEncryption
}

export const ofGeneratedKey = {
  keyId: ['kid', 'text'],
  rsaBits: ['rsa_bits', 'count'],
  curve: ['crv', 'text'],
  contentEncryption: ['enc', 'text']
} satisfies Settings

export const ofImportedKey = {
  algorithm: ['alg', 'text'],
  contentEncryption: ['enc', 'text'],
  keyId: ['kid', 'text'],
  rounds: ['rounds', 'count'],
  password: ['password', 'text']
} satisfies Settings

/** Options of {@link KeySet.import}. */
export interface KeySetOptions {
  /** Sets the algorithm of keys without `alg`. */
  defaultAlgorithm?: Algorithm
  /** Skips private keys and secrets, for a set of another party: everyone can read them in a published set. */
  published?: boolean
}

export const ofKeySet = {
  defaultAlgorithm: ['default_alg', 'text'],
  published: ['published', 'flag']
} satisfies Settings

/** Options of a remote key set. */
export interface RemoteKeySetSettings {
  /** Sets the address of the JWK Set. Set it or `issuer`. */
  address?: string
  /** Sets the issuer. Its metadata has the address of the JWK Set (OpenID Connect Discovery, RFC 8414). */
  issuer?: string
  /** Sets the algorithm of keys without `alg`. */
  defaultAlgorithm?: SignatureAlgorithm
  /** Accepts a `jwks_uri` that is on another host than the issuer and has a private IP address. */
  allowPrivateAddresses?: boolean
  /**
   * Accepts http for all hosts. Insecure: anyone on the network can replace the keys. Loopback hosts need no option.
   */
  allowPlainHttp?: boolean
  /**
   * Sets the age at which keys are fetched again, in the background. `Cache-Control: max-age` of the response takes
   * precedence. The default is 5 minutes.
   */
  freshFor?: Duration
  /** Sets the minimum time between two requests. The default is 30 seconds. */
  cooldown?: Duration
  /** Sets the age up to which keys are used while fetching fails. The default is 1 day. */
  usableFor?: Duration
}

export const ofRemoteKeySet = {
  address: ['address', 'text'],
  issuer: ['issuer', 'text'],
  defaultAlgorithm: ['default_alg', 'text'],
  allowPrivateAddresses: ['allow_private_addresses', 'flag'],
  allowPlainHttp: ['allow_plain_http', 'flag'],
  freshFor: ['fresh_for', 'seconds'],
  cooldown: ['cooldown', 'seconds'],
  usableFor: ['usable_for', 'seconds']
} satisfies Settings
