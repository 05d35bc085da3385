import { KeyObject, createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'

import type { MacAlgorithm, SignatureAlgorithm } from '../algorithms.js'
import { JetonError } from '../errors.js'
import { Key } from '../key.js'
import { withoutPssParameters } from './der.js'
import { RefusedUseError } from './errors.js'

export const hmac = ['HS256', 'HS384', 'HS512']
export const rsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
export const ec = ['ES256', 'ES384', 'ES512']

type Material = Parameters<typeof createPublicKey>[0]

/** The size of a cache. Few programs have more keys. */
const cached = 100

type Objects = Map<string, KeyObject | undefined>

/** The keys of strings and bytes. Node takes hundreds of microseconds to find out that a text is no PEM. */
const objects = {
  private: { texts: new Map() as Objects, bytes: new Map() as Objects },
  public: { texts: new Map() as Objects, bytes: new Map() as Objects }
}

/** Converts the caller's key to a `KeyObject`, which is the same for the same content. */
export function keyObjectOf(half: 'private' | 'public', key: unknown): KeyObject | undefined {
  // The caller may change the value, so its content is the cache key. Only strings and bytes are cached.
  if (typeof key === 'string') return cachedObject(objects[half].texts, key, half, key)
  if (key instanceof KeyObject) return key
  if (!(key instanceof Uint8Array)) return converted(half, key)
  return cachedObject(objects[half].bytes, Buffer.from(key).toString('latin1'), half, key)
}

function cachedObject(objects: Objects, text: string, half: 'private' | 'public', key: unknown): KeyObject | undefined {
  return text.length > 20_000 ? converted(half, key) : found(objects, text, () => converted(half, key))
}

function converted(half: 'private' | 'public', key: unknown): KeyObject | undefined {
  try {
    return half === 'private' ? createPrivateKey(key as Parameters<typeof createPrivateKey>[0]) : createPublicKey(key as Material)
  } catch {
    try {
      return createSecretKey(typeof key === 'string' ? Buffer.from(key) : (key as Buffer))
    } catch {
      return undefined
    }
  }
}

const forKeyType: Record<string, string[]> = {
  ec,
  rsa: ['RS256', 'PS256', 'RS384', 'PS384', 'RS512', 'PS512'],
  'rsa-pss': ['PS256', 'PS384', 'PS512']
}
const curves: Record<string, string> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' }

/** Throws if the key does not match the algorithm. */
export function checkKeyType(algorithm: string, key: KeyObject | undefined): void {
  const type = key?.asymmetricKeyType
  if (!algorithm || !key || !type) return
  const allowed = forKeyType[type]
  if (!allowed) throw new Error(`Unknown key type "${type}".`)
  if (!allowed.includes(algorithm)) {
    throw new Error(`"alg" parameter for "${type}" key type must be one of: ${allowed.join(', ')}.`)
  }
  const details = key.asymmetricKeyDetails ?? {}
  if (type === 'ec' && details.namedCurve !== curves[algorithm]) {
    throw new Error(`"alg" parameter "${algorithm}" requires curve "${curves[algorithm]}".`)
  }
  if (type === 'rsa-pss') checkPss(algorithm, details)
}

function checkPss(algorithm: string, details: NonNullable<KeyObject['asymmetricKeyDetails']>): void {
  const bits = Number.parseInt(algorithm.slice(-3), 10)
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength } = details
  if (hashAlgorithm !== `sha${bits}` || mgf1HashAlgorithm !== hashAlgorithm) {
    throw new Error(
      `Invalid key for this operation, its RSA-PSS parameters do not meet the requirements of "alg" ${algorithm}.`
    )
  }
  if (saltLength !== undefined && saltLength > bits >> 3) {
    throw new Error(
      `Invalid key for this operation, its RSA-PSS parameter saltLength does not meet the requirements of "alg" ${algorithm}.`
    )
  }
}

/** Converts a key to a key of jeton. Unsupported keys are refused. */
export function keyOf(
  name: string,
  object: KeyObject,
  algorithm: string,
  keyId: string | undefined,
  isWeakAllowed: boolean
): Key {
  const options = { algorithm: algorithm as SignatureAlgorithm, ...(keyId === undefined ? {} : { keyId }) }
  try {
    if (object.type === 'secret') {
      const mac = { ...options, algorithm: algorithm as MacAlgorithm }
      return isWeakAllowed ? Key.insecureSecret(object.export(), mac) : Key.fromSecret(object.export(), mac)
    }
    if (object.type === 'public' && isWeakAllowed && isSmall(object)) {
      return Key.insecureRsa(object.export({ format: 'der', type: 'spki' }), options)
    }
    if (object.asymmetricKeyType === 'rsa-pss') {
      const type = object.type === 'private' ? 'pkcs8' : 'spki'
      return Key.import(withoutPssParameters(object.export({ format: 'der', type })), options)
    }
    // As a JWK: PEM may contain curve parameters instead of the curve's name. Node has compared them.
    if (object.asymmetricKeyType === 'ec') return Key.import(object.export({ format: 'jwk' }), options)
    return Key.fromKeyObject(object, options)
  } catch (error) {
    if (!(error instanceof JetonError)) throw error
    throw refused(name, object, error)
  }
}

function isSmall(key: KeyObject): boolean {
  return (key.asymmetricKeyDetails?.modulusLength ?? 2048) < 2048
}

function refused(name: string, object: KeyObject, error: JetonError): RefusedUseError {
  if (error.code === 'KEY_TOO_WEAK' || error.code === 'KEY_UNSUPPORTED') {
    if (object.type === 'secret') {
      const hint = 'use a longer one, or allowInsecureKeySizes'
      return new RefusedUseError('weak-secret', `${name} is too short (${error.message}): ${hint}`, error)
    }
    if (isSmall(object)) {
      return new RefusedUseError('weak-rsa', `${name} is an RSA key below 2048 bits`, error)
    }
  }
  return new RefusedUseError('key-type', `${name} cannot be used: ${error.message}`, error)
}

/** Caches objects made from keys, so that each key is imported once. */
export class Made<T> {
  readonly #ofKeys = new WeakMap<KeyObject, Map<string, T>>()

  /** Returns the result of `make`, which runs once for each key and `use`. */
  get(key: KeyObject, use: string, make: () => T): T {
    let uses = this.#ofKeys.get(key)
    if (!uses) this.#ofKeys.set(key, (uses = new Map()))
    return found(uses, use, make)
  }
}

function found<T>(map: Map<string, T>, name: string, make: () => T): T {
  let value = map.get(name)
  if (value === undefined) {
    value = make()
    if (map.size >= cached) map.delete(map.keys().next().value!)
    map.set(name, value)
  }
  return value
}
