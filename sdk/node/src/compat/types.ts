import type { JsonWebKey, KeyObject, PrivateKeyInput, PublicKeyInput } from 'node:crypto'

import type { JsonWebTokenError, RefusedUseError } from './errors.js'

export type Algorithm =
  | 'HS256' | 'HS384' | 'HS512' | 'RS256' | 'RS384' | 'RS512'
  | 'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512'

/** A secret, PEM, or any input of `createPublicKey`. */
export type PublicKey = string | Buffer | KeyObject | PublicKeyInput | { key: JsonWebKey; format: 'jwk' }

/** A secret, PEM, or any input of `createPrivateKey`. */
export type PrivateKey =
  | string
  | Buffer
  | KeyObject
  | PrivateKeyInput
  | { key: string | Buffer; passphrase: string }
  | { key: JsonWebKey; format: 'jwk' }

export type Secret = PublicKey | PrivateKey

export interface SignOptions {
  algorithm?: Algorithm | 'none'
  keyid?: string
  expiresIn?: string | number
  notBefore?: string | number
  audience?: string | string[]
  subject?: string
  issuer?: string
  jwtid?: string
  mutatePayload?: boolean
  noTimestamp?: boolean
  header?: Partial<JwtHeader>
  encoding?: string
  /** Allows secrets that are shorter than the hash. */
  allowInsecureKeySizes?: boolean
  allowInvalidAsymmetricKeyTypes?: boolean
}

export interface VerifyOptions {
  algorithms?: readonly (Algorithm | 'none')[]
  audience?: string | RegExp | readonly (string | RegExp)[]
  clockTimestamp?: number
  clockTolerance?: number
  complete?: boolean
  issuer?: string | readonly string[]
  ignoreExpiration?: boolean
  ignoreNotBefore?: boolean
  jwtid?: string
  nonce?: string
  subject?: string
  maxAge?: string | number
  /** Allows secrets shorter than the hash, and public RSA keys below 2,048 bits. jsonwebtoken does not have it. */
  allowInsecureKeySizes?: boolean
  allowInvalidAsymmetricKeyTypes?: boolean
}

export interface DecodeOptions {
  complete?: boolean
  json?: boolean
}

export interface JwtHeader {
  alg: string
  typ?: string
  cty?: string
  kid?: string
  [name: string]: unknown
}

export interface JwtPayload {
  iss?: string
  sub?: string
  aud?: string | string[]
  exp?: number
  nbf?: number
  iat?: number
  jti?: string
  [name: string]: unknown
}

export interface Jwt {
  header: JwtHeader
  payload: JwtPayload | string
  signature: string
}

export type SignCallback = (error: Error | null, token?: string) => void
export type VerifyCallback = (
  error: JsonWebTokenError | RefusedUseError | null,
  decoded?: JwtPayload | string | Jwt
) => void
export type GetPublicKey = (
  header: JwtHeader,
  callback: (error: Error | null, key?: PublicKey) => void
) => void
