import { KeyObject } from 'node:crypto'

import { JetonError } from '../errors.js'
import { Issuer } from '../issuer.js'
import type { Key } from '../key.js'
import { isPlainObject } from '../values.js'
import { JsonWebTokenError, RefusedUseError } from './errors.js'
import { Made, checkKeyType, ec, hmac, keyObjectOf, keyOf, rsa } from './keys.js'
import { withoutUnit, wrongOption } from './options.js'
import { timespan } from './timespan.js'
import type { JwtHeader, JwtPayload, PrivateKey, SignCallback, SignOptions } from './types.js'

const isNumber = (value: unknown) => typeof value === 'number'
const isString = (value: unknown) => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isSpan = (value: unknown) => Number.isInteger(value) || (typeof value === 'string' && value !== '')
const supported = [...rsa, ...ec, ...hmac, 'none']

type Rules = Record<string, readonly [is: (value: unknown) => boolean, message: string]>

const span = 'should be a number of seconds or string representing a timespan'

const optionRules: Rules = {
  expiresIn: [isSpan, `"expiresIn" ${span}`],
  notBefore: [isSpan, `"notBefore" ${span}`],
  audience: [value => isString(value) || Array.isArray(value), '"audience" must be a string or array'],
  algorithm: [value => supported.includes(value as string), '"algorithm" must be a valid string enum value'],
  header: [isPlainObject, '"header" must be an object'],
  encoding: [isString, '"encoding" must be a string'],
  issuer: [isString, '"issuer" must be a string'],
  subject: [isString, '"subject" must be a string'],
  jwtid: [isString, '"jwtid" must be a string'],
  noTimestamp: [isBoolean, '"noTimestamp" must be a boolean'],
  keyid: [isString, '"keyid" must be a string'],
  mutatePayload: [isBoolean, '"mutatePayload" must be a boolean'],
  allowInsecureKeySizes: [isBoolean, '"allowInsecureKeySizes" must be a boolean'],
  allowInvalidAsymmetricKeyTypes: [isBoolean, '"allowInvalidAsymmetricKeyTypes" must be a boolean']
}

const claimRules: Rules = {
  iat: [isNumber, '"iat" should be a number of seconds'],
  exp: [isNumber, '"exp" should be a number of seconds'],
  nbf: [isNumber, '"nbf" should be a number of seconds']
}

function validate(rules: Rules, allowUnknown: boolean, object: unknown, name: string): void {
  if (!isPlainObject(object)) throw new Error(`Expected "${name}" to be a plain object.`)
  for (const [key, value] of Object.entries(object)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (!rule && !allowUnknown) throw new Error(`"${key}" is not allowed in "${name}"`)
    if (rule && !rule[0](value)) throw new Error(rule[1])
  }
}

/** Signs a payload, like jsonwebtoken's `sign`. */
export function sign(
  payload: string | Buffer | object,
  key: PrivateKey,
  options?: SignOptions
): string
export function sign(payload: string | Buffer | object, key: PrivateKey, callback: SignCallback): void
export function sign(
  payload: string | Buffer | object,
  key: PrivateKey,
  options: SignOptions,
  callback: SignCallback
): void
export function sign(
  payload: unknown,
  key: unknown,
  optionsOrCallback?: SignOptions | SignCallback,
  callbackOrNone?: SignCallback
): string | void {
  const isCallback = typeof optionsOrCallback === 'function'
  const callback = isCallback ? optionsOrCallback : callbackOrNone
  const options = isCallback ? {} : (optionsOrCallback ?? {})
  let prepared: Prepared
  try {
    prepared = prepare(payload, key, options)
    if (!callback) return prepared.issuer.issueBytes(prepared.data)
  } catch (error) {
    if (!callback) throw error
    return callback(error as Error)
  }
  prepared.issuer.issueBytesAsync(prepared.data).then(
    token => process.nextTick(callback, null, token),
    (error: unknown) => process.nextTick(callback, error)
  )
}

interface Prepared {
  issuer: Issuer
  data: Buffer
}

function prepare(given: unknown, key: unknown, options: SignOptions): Prepared {
  const isObject = typeof given === 'object' && !Buffer.isBuffer(given)
  const header = {
    alg: options.algorithm || 'HS256',
    typ: isObject ? 'JWT' : undefined,
    kid: options.keyid,
    ...options.header
  } as JwtHeader
  if (!key && options.algorithm !== 'none') throw new Error('secretOrPrivateKey must have a value')
  const object = key == null ? undefined : keyObjectOf('private', key)
  if (key != null && !object) throw new Error('secretOrPrivateKey is not valid key material')
  checkKind(header.alg, object, options)
  if (given === undefined) throw new Error('payload is required')
  const payload = isObject ? claimsOf(given, options) : given
  if (!isObject) checkOptionsForText(given, options)
  const claims = payload as JwtPayload
  if (claims.exp !== undefined && options.expiresIn !== undefined) {
    throw new Error('Bad "options.expiresIn" option the payload already has an "exp" property.')
  }
  if (claims.nbf !== undefined && options.notBefore !== undefined) {
    throw new Error('Bad "options.notBefore" option the payload already has an "nbf" property.')
  }
  validate(optionRules, false, options, 'options')
  if (header.alg === 'none') {
    throw new RefusedUseError('none', 'tokens without a signature are refused: "none" is not supported')
  }
  if (!options.allowInvalidAsymmetricKeyTypes) checkKeyType(header.alg, object)
  if (isObject) addClaims(claims, options)
  const text = typeof payload === 'object' && !Buffer.isBuffer(payload) ? JSON.stringify(payload) : String(payload)
  return { issuer: issuerOf(object!, header, options), data: Buffer.from(text, encodingOf(options)) }
}

function encodingOf({ encoding = 'utf8' }: SignOptions): BufferEncoding {
  return encoding as BufferEncoding
}

function checkKind(alg: string, key: KeyObject | undefined, options: SignOptions): void {
  if (alg.startsWith('HS') && key?.type !== 'secret') {
    throw new Error(`secretOrPrivateKey must be a symmetric key when using ${alg}`)
  }
  if (!/^(?:RS|PS|ES)/.test(alg)) return
  if (key?.type !== 'private') {
    throw new Error(`secretOrPrivateKey must be an asymmetric key when using ${alg}`)
  }
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (!options.allowInsecureKeySizes && !alg.startsWith('ES') && bits !== undefined && bits < 2048) {
    throw new Error(`secretOrPrivateKey has a minimum key size of 2048 bits for ${alg}`)
  }
}

function claimsOf(payload: unknown, options: SignOptions): object {
  validate(claimRules, true, payload, 'payload')
  return options.mutatePayload ? (payload as object) : { ...(payload as object) }
}

const forObjects = ['expiresIn', 'notBefore', 'noTimestamp', 'audience', 'issuer', 'subject', 'jwtid'] as const

function checkOptionsForText(payload: unknown, options: SignOptions): void {
  const invalid = forObjects.filter(name => options[name] !== undefined)
  if (invalid.length > 0) {
    throw new Error(`invalid ${invalid.join(',')} option for ${typeof payload} payload`)
  }
}

const claimsOfOptions = { audience: 'aud', issuer: 'iss', subject: 'sub', jwtid: 'jti' } as const

function addClaims(claims: JwtPayload, options: SignOptions): void {
  const now = claims.iat || Math.floor(Date.now() / 1000)
  if (options.noTimestamp) delete claims.iat
  else claims.iat = now
  for (const [name, claim] of [['notBefore', 'nbf'], ['expiresIn', 'exp']] as const) {
    if (options[name] === undefined) continue
    if (withoutUnit(options[name])) {
      throw wrongOption(`"${name}" without a unit counts milliseconds: write "60s", or a number of seconds`)
    }
    const time = timespan(options[name], now)
    if (time === undefined) throw new Error(`"${name}" ${span} eg: "1d", "20h", 60`)
    claims[claim] = time
  }
  for (const [name, claim] of Object.entries(claimsOfOptions) as [keyof typeof claimsOfOptions, string][]) {
    if (options[name] === undefined) continue
    if (claims[claim] !== undefined) {
      throw new Error(`Bad "options.${name}" option. The payload already has an "${claim}" property.`)
    }
    claims[claim] = options[name]
  }
}

const issuers = new Made<Issuer>()
// A header that differs for each token, for example in its nonce, needs a new issuer, but not a new key.
const keys = new Made<Key>()

function issuerOf(object: KeyObject, header: JwtHeader, options: SignOptions): Issuer {
  const { alg } = header
  if (!supported.includes(alg)) throw new JsonWebTokenError(`"${alg}" is not a supported algorithm`)
  const isWeakAllowed = options.allowInsecureKeySizes === true
  // jsonwebtoken writes this text. It leaves out members that are undefined, and the caller may change the object.
  const text = JSON.stringify(header)
  return issuers.get(object, `${alg} ${isWeakAllowed} ${text}`, () => {
    const { typ, cty, kid, ...others } = JSON.parse(text) as JwtHeader
    for (const [name, value] of Object.entries({ typ, cty, kid })) {
      if (value !== undefined && !isString(value)) throw wrongHeader(`"${name}" must be a string`)
    }
    delete (others as Partial<JwtHeader>).alg
    const key = keys.get(object, JSON.stringify([isWeakAllowed, alg, kid]), () => {
      return keyOf('secretOrPrivateKey', object, alg, kid, isWeakAllowed)
    })
    try {
      return new Issuer({
        key,
        format: 'jws',
        ...(typ === undefined ? {} : { type: typ }),
        ...(cty === undefined ? {} : { contentType: cty }),
        ...(Object.keys(others).length === 0 ? {} : { headers: others })
      })
    } catch (error) {
      if (!(error instanceof JetonError)) throw error
      throw wrongHeader(error.message.replace(/^option `headers`: /, ''), error)
    }
  })
}

function wrongHeader(why: string, cause?: JetonError): RefusedUseError {
  return new RefusedUseError('header-member', `the header cannot be written: ${why}`, cause)
}
