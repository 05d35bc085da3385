// Keys of `node:crypto` and of the Web Cryptography API.
import { KeyObject, createPublicKey, webcrypto } from 'node:crypto'
import { types } from 'node:util'

import { JetonError, invalid } from './errors.js'
import type { Jwk } from './key.js'

/** A key of the Web Cryptography API. */
export type CryptoKey = webcrypto.CryptoKey

/** A key of Node: a `KeyObject`, or an extractable `CryptoKey`. */
export type PlatformKey = KeyObject | CryptoKey

export function isKeyObject(key: unknown): key is KeyObject {
  return types.isKeyObject(key)
}

export function isCryptoKey(key: unknown): key is CryptoKey {
  return types.isCryptoKey(key)
}

/** The members that the algorithms of the Web Cryptography API have. */
interface WebAlgorithm {
  name: string
  hash?: { name: string }
  length?: number
}

/** Prefixes of JWA names with a hash, by the name in the Web Cryptography API. */
const withHash: Record<string, string> = { HMAC: 'HS', 'RSASSA-PKCS1-v1_5': 'RS', 'RSA-PSS': 'PS' }

const curves: Record<string, string> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

/** Returns the algorithm that a `CryptoKey` implies. Its curve implies the algorithm of another one. */
function impliedBy({ name, hash, length }: WebAlgorithm): string | undefined {
  const bits = hash?.name.slice('SHA-'.length)
  if (Object.hasOwn(withHash, name)) return `${withHash[name]}${bits}`
  if (name === 'RSA-OAEP') return bits === '1' ? name : `${name}-${bits}`
  return name === 'AES-KW' ? `A${length}KW` : undefined
}

/** Returns a `CryptoKey` as a JWK, which keeps its algorithm and its usages. */
export function jwkOf(key: CryptoKey): Jwk {
  if (!key.extractable) {
    const way = key.type === 'private' ? 'sign with it in Issuer.issueWith' : 'create it with extractable: true'
    throw invalid(`the CryptoKey is not extractable: ${way}`)
  }
  const jwk: Jwk = KeyObject.from(key).export({ format: 'jwk' })
  const alg = impliedBy(key.algorithm as WebAlgorithm)
  if (alg !== undefined) jwk.alg = alg
  // Without it, a public key on P-256 would verify signatures.
  if (/^(ECDH|X25519)$/.test(key.algorithm.name)) jwk.use = 'enc'
  return key.usages.length === 0 ? jwk : { ...jwk, key_ops: key.usages }
}

/** Creates a public `KeyObject`. */
export function keyObjectOf(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch (cause) {
    throw unsupported(cause)
  }
}

/** Creates a public `CryptoKey` for the algorithm. */
export async function cryptoKeyOf(der: Buffer, algorithm: string, { crv }: Jwk): Promise<CryptoKey> {
  const [parameters, ...usages] = parametersOf(algorithm, crv)
  try {
    return await webcrypto.subtle.importKey('spki', der, parameters, true, usages)
  } catch (cause) {
    throw unsupported(cause)
  }
}

type Usage = webcrypto.KeyUsage

function parametersOf(algorithm: string, curve: string | undefined): [webcrypto.EcKeyImportParams & { hash?: string }, ...Usage[]] {
  const bits = algorithm.slice(-3)
  const hash = `SHA-${bits}`
  const namedCurve = curves[algorithm] ?? curve ?? ''
  if (algorithm.startsWith('RSA-OAEP')) {
    return [{ name: 'RSA-OAEP', hash: /\d$/.test(algorithm) ? hash : 'SHA-1', namedCurve }, 'encrypt', 'wrapKey']
  }
  if (algorithm.startsWith('ECDH-ES')) return [{ name: curve === 'X25519' ? curve : 'ECDH', namedCurve }]
  const name = Object.keys(withHash).find(one => withHash[one] === algorithm.slice(0, -3))
  if (name !== undefined) return [{ name, hash, namedCurve }, 'verify']
  if (Object.hasOwn(curves, algorithm)) return [{ name: 'ECDSA', namedCurve }, 'verify']
  return [{ name: algorithm === 'EdDSA' ? 'Ed25519' : algorithm, namedCurve }, 'verify']
}

function unsupported(cause: unknown): JetonError {
  return new JetonError('KEY_UNSUPPORTED', 'this version of Node does not support the algorithm of the key', { cause })
}
