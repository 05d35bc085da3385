/**
 * Issues and verifies JWT, JWE and PASETO tokens.
 *
 * @packageDocumentation
 */
import './native.js'

export type {
  Algorithm,
  ContentEncryption,
  KeyManagementAlgorithm,
  MacAlgorithm,
  PasetoAlgorithm,
  PasswordAlgorithm,
  SignatureAlgorithm
} from './algorithms.js'
export type { LargeNumbers } from './claims.js'
export { FixedClock } from './clock.js'
export type { Code } from './codes.js'
export { JetonError } from './errors.js'
export type { RemoteFetch, RemoteFetchInit } from './fetching.js'
export {
  Issuer,
  PreparedToken,
  type Format,
  type IssuerOptions,
  type RemoteSigner,
  type Serialization,
  type SignatureForm
} from './issuer.js'
export {
  Key,
  type ImportOptions,
  type Jwk,
  type KeyForm,
  type KeyKind,
  type PasswordOptions
} from './key.js'
export { KeySet, type JwkSet } from './key-set.js'
export { MultiIssuerVerifier, type TrustedIssuer } from './multi-issuer-verifier.js'
export type { Duration } from './options.js'
export type { PlatformKey } from './platform-keys.js'
export { RemoteKeySet, type RemoteKeySetOptions } from './remote-key-set.js'
export type { ClaimsSchema, SchemaResult, StandardSchema } from './schema.js'
export type { GenerateOptions, KeySetOptions, Limits } from './settings.js'
export { readUnverified, type UnverifiedToken } from './unverified.js'
export { Verified, type VerifiedHeader } from './verified.js'
export { Verifier, type VerifierOptions, type VerifyOptions } from './verifier.js'
