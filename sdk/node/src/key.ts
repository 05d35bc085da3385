import type { JsonWebKey, KeyObject } from 'node:crypto'

import type {
  Algorithm,
  ContentEncryption,
  MacAlgorithm,
  PasswordAlgorithm,
  SignatureAlgorithm
} from './algorithms.js'
import { JetonError, checked, invalid, later } from './errors.js'
import { native, type Handle, type ImportArguments } from './native.js'
import { forGenerate, forImport, forPassword, settings } from './options.js'
import {
  cryptoKeyOf,
  isCryptoKey,
  isKeyObject,
  jwkOf,
  keyObjectOf,
  type CryptoKey,
  type PlatformKey
} from './platform-keys.js'
import type { GenerateOptions } from './settings.js'
import { isBytes, isPlainObject, withoutClones } from './values.js'

/** Options of the functions that import a key. */
export interface ImportOptions {
  /** The algorithm. Required if the key does not imply it. */
  algorithm?: Algorithm
  /** The content encryption of a `dir` key. */
  contentEncryption?: ContentEncryption
  /** The id (`kid`). */
  keyId?: string
  /** Decrypts PKCS#8 or a PASERK. */
  password?: string
}

/** Options of {@link Key.insecurePassword}. */
export interface PasswordOptions {
  /** The id (`kid`). */
  keyId?: string
  /** The rounds of PBKDF2 for encryption. The default is 600,000. */
  rounds?: number
}

/** Whether a key is public, private or a shared secret. */
export type KeyKind = 'public' | 'private' | 'symmetric'

/** A JWK, as in Node and the Web Cryptography API. */
export type Jwk = JsonWebKey & { kid?: string; alg?: string; use?: string }

/** An export format of keys. */
export type KeyForm = 'jwk' | 'pem' | 'der' | 'paserk'

/**
 * A key of any kind. The key material stays in the native module. It is wiped after the key is closed or collected and
 * nothing uses it.
 */
export class Key {
  static readonly #withoutClones = withoutClones(
    this,
    'a Key cannot be cloned: clone key.toKeyObject(), or import a private key in each worker'
  )
  readonly #handle: Handle

  private constructor(handle: Handle) {
    this.#handle = handle
    Key.#withoutClones(this)
  }

  /** Generates a key for an algorithm. */
  static generate(algorithm: Algorithm, options: GenerateOptions = {}): Key {
    return new Key(checked(native.keyGenerate(name(algorithm), generating(options))))
  }

  /** Like {@link Key.generate}, in the thread pool: an RSA key may take seconds. */
  static async generateAsync(algorithm: Algorithm, options: GenerateOptions = {}): Promise<Key> {
    return new Key(await later(native.keyGenerateLater(name(algorithm), generating(options))))
  }

  /** Imports a key in any format: JWK, PEM, DER, PASERK, `KeyObject` or an extractable `CryptoKey`. */
  static import(key: Jwk | string | Uint8Array | PlatformKey, options: ImportOptions = {}): Key {
    if (typeof key === 'string') return from(wellFormed(key), options)
    if (isKeyObject(key)) return Key.fromKeyObject(key, options)
    return from(dataOf(isCryptoKey(key) ? jwkOf(key) : key), options)
  }

  /** Like {@link Key.import}, in the thread pool: decryption with a password is slow by design. */
  static async importAsync(key: Jwk | string | Uint8Array | PlatformKey, options: ImportOptions = {}): Promise<Key> {
    if (isKeyObject(key) || isCryptoKey(key)) return Key.import(key, options)
    return new Key(await later(native.keyImportLater(...importing(dataOf(key), options))))
  }

  /** Imports a secret: bytes, or a string that is encoded as UTF-8. `algorithm` is required. */
  static fromSecret(secret: string | Uint8Array, options: ImportOptions): Key {
    return from(typeof secret === 'string' ? wellFormed(secret) : secret, options, 'secret')
  }

  /** Imports a secret in base64 or base64url. `algorithm` is required. */
  static fromBase64Secret(secret: string, options: ImportOptions): Key {
    return from(wellFormed(secret), options, 'secret-base64')
  }

  /** Imports the public key of an X.509 certificate. The certificate is not verified. */
  static fromCertificate(certificate: string | Uint8Array, options: ImportOptions = {}): Key {
    return from(dataOf(certificate), options, 'certificate')
  }

  /** Imports a `KeyObject` of `node:crypto`. */
  static fromKeyObject(key: KeyObject, options: ImportOptions = {}): Key {
    if (!isKeyObject(key)) throw invalid('the key is not a KeyObject')
    if (key.type === 'secret') return Key.fromSecret(key.export(), options)
    const type = key.type === 'private' ? 'pkcs8' : 'spki'
    return from(key.export({ format: 'der', type }), options)
  }

  /**
   * Creates a key from a password, which encrypts and decrypts JWEs (PBES2). Insecure: anyone with a token can guess
   * passwords. The sender chooses the cost for the receiver, within limits. Encrypt and decrypt in the thread pool.
   */
  static insecurePassword(
    algorithm: PasswordAlgorithm,
    password: string | Uint8Array,
    options: PasswordOptions = {}
  ): Key {
    const data = typeof password === 'string' ? wellFormed(password) : password
    const { kid, rounds } = settings(options, forPassword) as { kid?: string; rounds?: number }
    return new Key(checked(native.keyOfPassword(data, name(algorithm), kid, rounds)))
  }

  /** Imports a secret that may be shorter than the hash. Insecure: only for systems that cannot change their secret. */
  static insecureSecret(
    secret: string | Uint8Array,
    options: ImportOptions & { algorithm: MacAlgorithm }
  ): Key {
    return from(typeof secret === 'string' ? wellFormed(secret) : secret, options, 'insecure-secret')
  }

  /** Imports a public RSA key of 1,024 bits or more. Insecure: only for systems that cannot change their key. */
  static insecureRsa(
    key: Jwk | string | Uint8Array,
    options: ImportOptions & { algorithm: SignatureAlgorithm }
  ): Key {
    return from(dataOf(key), options, 'insecure-rsa')
  }

  /** Returns the public key. */
  publicKey(): Key {
    return new Key(checked(native.keyPublic(this.#handle)))
  }

  /** The algorithm. */
  get algorithm(): Algorithm {
    return this.#export('alg') as Algorithm
  }

  /** The id (`kid`). The id of a PASETO key is derived from the key. */
  get id(): string | undefined {
    return this.#export('kid') || undefined
  }

  /** The kind of the key. */
  get kind(): KeyKind {
    return this.#export('kind') as KeyKind
  }

  /** Returns the thumbprint (RFC 7638). */
  thumbprint(): string {
    return this.#export('thumbprint')
  }

  /** Returns the thumbprint as a URI (RFC 9278). */
  thumbprintUri(): string {
    return this.#export('thumbprint-uri')
  }

  /** Returns the public key as a JWK. */
  toJwk(): Jwk {
    return JSON.parse(this.#export('jwk')) as Jwk
  }

  /** Returns the public key as PEM. */
  toPem(): string {
    return this.#export('pem')
  }

  /** Returns the public key as DER. */
  toDer(): Buffer {
    return checked(native.keyExport(this.#handle, 'der'))
  }

  /** Returns the public key as a `KeyObject`. */
  toKeyObject(): KeyObject {
    return keyObjectOf(this.toDer())
  }

  /** Returns the public key as a `CryptoKey`. */
  async toCryptoKey(): Promise<CryptoKey> {
    return cryptoKeyOf(this.toDer(), this.algorithm, this.toJwk())
  }

  /** Returns the public key as a PASERK. */
  toPaserk(): string {
    return this.#export('paserk')
  }

  /**
   * Returns the key with its private part. JavaScript cannot wipe it, so it stays in memory for an unknown time. `der`
   * returns bytes, and the other formats return a string.
   */
  insecureExport(form: 'der'): Buffer
  insecureExport(form: Exclude<KeyForm, 'der'>): string
  insecureExport(form: KeyForm): string | Buffer {
    const found = checked(native.keyExport(this.#handle, `insecure-${form}`))
    return form === 'der' ? found : found.toString()
  }

  /**
   * Makes one signature and discards it. The first signature of a process takes tens of milliseconds. This happens
   * automatically when a thread generates or imports its first private key.
   */
  warmUp(): void {
    checked(native.keyWarmUp(this.#handle))
  }

  /** Closes the key. Issuers and verifiers that use it keep it. Any other use is an error. */
  close(): void {
    checked(native.close(this.#handle))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #export(what: string): string {
    return checked(native.keyExport(this.#handle, what)).toString()
  }

  /** @internal */
  static from(handle: Handle): Key {
    return new Key(handle)
  }

  /** @internal */
  static handle(key: Key | undefined): Handle | undefined {
    return key === undefined ? undefined : key.#handle
  }

  /** @internal */
  static of(option: string, key: Key | PlatformKey): Key
  static of(option: string, key: Key | PlatformKey | undefined): Key | undefined
  static of(option: string, key: unknown): Key | undefined {
    if (key === undefined || key instanceof Key) return key
    if (!isKeyObject(key) && !isCryptoKey(key)) throw invalid(`option \`${option}\`: not a Key, a KeyObject or a CryptoKey`)
    try {
      return Key.import(key)
    } catch (error) {
      if (!(error instanceof JetonError && error.code === 'KEY_ALGORITHM_NEEDED')) throw error
      const message = `option \`${option}\`: the key does not imply its algorithm: use Key.import(key, { algorithm })`
      throw new JetonError(error.code, message)
    }
  }
}

function name(algorithm: unknown): string {
  if (typeof algorithm !== 'string') throw invalid('the algorithm is not a string')
  return algorithm
}

function generating(options: GenerateOptions): string {
  return JSON.stringify(settings(options, forGenerate))
}

function importing(key: string | Uint8Array, options: ImportOptions, format?: string): ImportArguments {
  const { alg, enc, kid, password } = settings(options, forImport) as Record<string, string | undefined>
  return [key, format, alg, enc, kid, password]
}

function from(key: string | Uint8Array, options: ImportOptions, format?: string): Key {
  return Key.from(checked(native.keyImport(...importing(key, options, format))))
}

function wellFormed(text: unknown): string {
  if (typeof text !== 'string') throw invalid('the key is not a string')
  if (!text.isWellFormed()) throw invalid('the key contains a lone surrogate')
  return text
}

function dataOf(key: Jwk | string | Uint8Array): string | Uint8Array {
  if (isBytes(key)) return key
  if (isPlainObject(key)) return JSON.stringify(key)
  if (typeof key !== 'string') throw invalid('the key is not a string, a Uint8Array, a JWK, a KeyObject or a CryptoKey')
  return wellFormed(key)
}
