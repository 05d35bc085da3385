import { isUtf8 } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import { types } from 'node:util'

import { JetonError } from '../errors.js'
import type { Key } from '../key.js'
import { Verifier } from '../verifier.js'
import { read, type Read } from './decode.js'
import { JsonWebTokenError, NotBeforeError, RefusedTokenError, RefusedUseError, TokenExpiredError } from './errors.js'
import { Made, checkKeyType, ec, hmac, keyObjectOf, keyOf, rsa } from './keys.js'
import { checkedVerifyOptions } from './options.js'
import { hasDuplicateMember } from './strict.js'
import { timespan } from './timespan.js'
import type { GetPublicKey, Jwt, JwtPayload, PublicKey, VerifyCallback, VerifyOptions } from './types.js'

/** Verifies a token, like jsonwebtoken's `verify`. */
export function verify(
  token: string,
  key: PublicKey,
  options?: VerifyOptions & { complete?: false }
): JwtPayload | string
export function verify(token: string, key: PublicKey, options: VerifyOptions & { complete: true }): Jwt
export function verify(token: string, key: PublicKey | GetPublicKey, callback: VerifyCallback): void
export function verify(
  token: string,
  key: PublicKey | GetPublicKey,
  options: VerifyOptions,
  callback: VerifyCallback
): void
export function verify(
  token: unknown,
  key: unknown,
  optionsOrCallback?: VerifyOptions | VerifyCallback,
  callbackOrNone?: VerifyCallback
): unknown {
  const isCallback = typeof optionsOrCallback === 'function' && !callbackOrNone
  const callback = isCallback ? optionsOrCallback : callbackOrNone
  const done = (run: () => unknown): unknown => {
    if (!callback) return run()
    let result: unknown
    try {
      result = run()
    } catch (error) {
      return callback(error as JsonWebTokenError, undefined)
    }
    return callback(null, result as JwtPayload)
  }
  let parsed: Read
  let options: VerifyOptions
  try {
    options = checkedVerifyOptions(isCallback ? undefined : optionsOrCallback)
    parsed = parse(token)
    if (typeof key === 'function' && !callback) {
      throw new JsonWebTokenError(
        'verify must be called asynchronous if secret or public key is provided as a callback'
      )
    }
  } catch (error) {
    return done(() => {
      throw error
    })
  }
  if (typeof key !== 'function') return done(() => check(parsed, key, options))
  return (key as GetPublicKey)(parsed.jwt.header, (error, found) => {
    done(() => {
      if (error) throw new JsonWebTokenError(`error in secret or public key callback: ${error.message}`)
      return check(parsed, found, options)
    })
  })
}

function parse(token: unknown): Read {
  if (!token) throw new JsonWebTokenError('jwt must be provided')
  if (typeof token !== 'string') throw new JsonWebTokenError('jwt must be a string')
  if (token.split('.').length !== 3) throw new JsonWebTokenError('jwt malformed')
  const parsed = read(token)
  if (!parsed) throw new JsonWebTokenError('invalid token')
  return parsed
}

function check(parsed: Read, key: unknown, options: VerifyOptions): unknown {
  const { jwt } = parsed
  const hasSignature = jwt.signature !== ''
  if (!hasSignature && key) throw new JsonWebTokenError('jwt signature is required')
  if (hasSignature && !key) throw new JsonWebTokenError('secret or public key must be provided')
  if (!hasSignature && !options.algorithms) {
    throw new JsonWebTokenError('please specify "none" in "algorithms" to verify unsigned tokens')
  }
  refuseAlgorithms(options.algorithms ?? [])
  const object = keyObjectOf('public', key)
  if (!object) throw new JsonWebTokenError('secretOrPublicKey is not valid key material')
  const { alg } = jwt.header
  const algorithms = options.algorithms ?? algorithmsOf(object)
  if (!algorithms.includes(alg)) throw new JsonWebTokenError('invalid algorithm')
  if (alg.startsWith('HS') && object.type !== 'secret') {
    throw new JsonWebTokenError(`secretOrPublicKey must be a symmetric key when using ${alg}`)
  }
  if (/^(?:RS|PS|ES)/.test(alg) && object.type !== 'public') {
    throw new JsonWebTokenError(`secretOrPublicKey must be an asymmetric key when using ${alg}`)
  }
  if (!options.allowInvalidAsymmetricKeyTypes) checkKeyType(alg, object)
  checkSignature(parsed, object, alg, algorithms, options)
  const { payload } = jwt
  checkClaims(payload as JwtPayload, options)
  return options.complete === true ? jwt : payload
}

function refuseAlgorithms(algorithms: readonly string[]): void {
  if (algorithms.includes('none')) {
    throw new RefusedUseError('none', 'tokens without a signature are refused: "none" is not supported')
  }
  const macs = algorithms.filter(one => hmac.includes(one)).length
  if (macs > 0 && macs < algorithms.length) {
    const message = 'algorithms mixes HMAC and public-key algorithms: a public key is not a secret'
    throw new RefusedUseError('mixed-algorithms', message)
  }
}

function algorithmsOf(key: KeyObject): readonly string[] {
  if (key.type === 'secret') return hmac
  return key.asymmetricKeyType === 'ec' ? ec : rsa
}

/** With a minimum size of keys, and without. */
const verifiers = { strict: new Made<Verifier>(), weak: new Made<Verifier>() }

/** Returns the key for the algorithm of a token. A token is rejected if the key fits another allowed algorithm only. */
function keyFor(object: KeyObject, alg: string, algorithms: readonly string[], isWeakAllowed: boolean): Key {
  const of = (one: string) => keyOf('secretOrPublicKey', object, one, undefined, isWeakAllowed)
  const fits = (one: string): boolean => {
    try {
      of(one).close()
      return true
    } catch {
      return false
    }
  }
  try {
    return of(alg)
  } catch (error) {
    if (!(error instanceof RefusedUseError) || !algorithms.some(one => one !== alg && fits(one))) throw error
    throw new RefusedTokenError(error.rule, error.message, error.inner)
  }
}

/** Verifies the signature, and checks that parsers agree about the payload. */
function checkSignature(
  { token, content, text }: Read,
  object: KeyObject,
  alg: string,
  algorithms: readonly string[],
  options: VerifyOptions
): void {
  const isWeakAllowed = options.allowInsecureKeySizes === true
  const verifier = verifiers[isWeakAllowed ? 'weak' : 'strict'].get(object, alg, () => {
    const keys = keyFor(object, alg, algorithms, isWeakAllowed)
    return new Verifier({ keys, format: 'jws', limits: { tokenBytes: 1 << 20 } })
  })
  try {
    verifier.verifySignature(token)
  } catch (error) {
    if (!(error instanceof JetonError && error.isRejection)) throw error
    if (error.code === 'TOKEN_INVALID_SIGNATURE') throw new JsonWebTokenError('invalid signature', error)
    throw new RefusedTokenError('strict-token', `invalid token: ${error.message}`, error)
  }
  // Base64url is strict in a verified token, so the content is what was signed.
  if (!isUtf8(content)) throw new RefusedTokenError('strict-token', 'invalid token: the payload is not UTF-8')
  if (hasDuplicateMember(text)) {
    throw new RefusedTokenError('strict-token', 'invalid token: an object has a duplicate member')
  }
}

function checkClaims(claims: JwtPayload, options: VerifyOptions): void {
  const now = options.clockTimestamp ?? Date.now() / 1000
  const tolerance = options.clockTolerance ?? 0
  if (claims.nbf !== undefined && !options.ignoreNotBefore) {
    if (typeof claims.nbf !== 'number') throw new JsonWebTokenError('invalid nbf value')
    if (claims.nbf > now + tolerance) throw new NotBeforeError('jwt not active', new Date(claims.nbf * 1000))
  }
  if (claims.exp !== undefined && !options.ignoreExpiration) {
    if (typeof claims.exp !== 'number') throw new JsonWebTokenError('invalid exp value')
    if (now >= claims.exp + tolerance) throw new TokenExpiredError('jwt expired', new Date(claims.exp * 1000))
  }
  checkAudience(claims, options.audience)
  const { issuer } = options
  const isOther =
    (typeof issuer === 'string' && claims.iss !== issuer) ||
    (Array.isArray(issuer) && !issuer.includes(claims.iss as string))
  if (isOther) throw new JsonWebTokenError(`jwt issuer invalid. expected: ${issuer}`)
  for (const [name, claim, expected] of [
    ['subject', claims.sub, options.subject],
    ['jwtid', claims.jti, options.jwtid],
    ['nonce', claims['nonce'], options.nonce]
  ] as const) {
    if (expected !== undefined && claim !== expected) {
      throw new JsonWebTokenError(`jwt ${name} invalid. expected: ${expected}`)
    }
  }
  if (options.maxAge !== undefined) checkAge(claims, options.maxAge, Math.floor(now), tolerance)
}

function checkAudience({ aud }: JwtPayload, expected: VerifyOptions['audience']): void {
  if (expected === undefined) return
  const audiences = (Array.isArray(expected) ? expected : [expected]) as (string | RegExp)[]
  const matches = (Array.isArray(aud) ? aud : [aud]).some(one => {
    return audiences.some(audience => {
      return types.isRegExp(audience) ? typeof one === 'string' && audience.test(one) : audience === one
    })
  })
  if (!matches) throw new JsonWebTokenError(`jwt audience invalid. expected: ${audiences.join(' or ')}`)
}

function checkAge({ iat }: JwtPayload, maxAge: string | number, now: number, tolerance: number): void {
  if (typeof iat !== 'number') throw new JsonWebTokenError('iat required when maxAge is specified')
  // The options were checked: the age is a time.
  const end = timespan(maxAge, iat) ?? iat
  if (now >= end + tolerance) throw new TokenExpiredError('maxAge exceeded', new Date(end * 1000))
}
