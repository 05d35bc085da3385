import type { JsonWebKey, KeyObject } from 'node:crypto'

import type {
  Algorithm,
  ContentEncryption,
  MacAlgorithm,
  PasswordAlgorithm,
  SignatureAlgorithm
} from './algorithms.js'
import { checked, invalid, later } from './errors.js'
import { native, type Handle } from './native.js'
import { forGenerate, forImport, forPassword, settings } from './options.js'

/** Options of {@link Key.generate}. */
export interface GenerateOptions {
  /** The id (`kid`). */
  keyId?: string
  /** The size of an RSA key: 2048, 3072, 4096 or 8192 bits. */
  rsaBits?: number
  /** The curve of a key for ECDH-ES: P-256 (the default), P-384, P-521 or X25519. */
  curve?: string
  /** The content encryption of a key for `dir`. */
  contentEncryption?: ContentEncryption
}

/** Options of the functions that import a key. */
export interface ImportOptions {
  /** The algorithm. Required if the key does not imply it. */
  algorithm?: Algorithm
  /** The content encryption of a key for `dir`. */
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
  /** The rounds of PBKDF2 for encryption: 600,000 if it is not set. */
  rounds?: number
}

/** Who has a key: everybody, its owner, or those who share it. */
export type KeyKind = 'public' | 'private' | 'symmetric'

/** A JWK, as Node and the web have it. */
export type Jwk = JsonWebKey & { kid?: string; alg?: string; use?: string }

/** A form in which a key can be exported. */
export type KeyForm = 'jwk' | 'pem' | 'der' | 'paserk'

/**
 * A key of any kind. The key material stays in the native part. It is wiped when it is closed or collected, and nothing
 * uses it any more.
 */
export class Key {
  readonly #handle: Handle

  private constructor(handle: Handle) {
    this.#handle = handle
  }

  /** Generates a key for an algorithm. */
  static generate(algorithm: Algorithm, options: GenerateOptions = {}): Key {
    return new Key(checked(native.keyGenerate(name(algorithm), generating(options))))
  }

  /** As {@link Key.generate}, in a thread of the pool: an RSA key takes up to seconds. */
  static async generateAsync(algorithm: Algorithm, options: GenerateOptions = {}): Promise<Key> {
    return new Key(await later(native.keyGenerateLater(name(algorithm), generating(options))))
  }

  /** Imports a key in any form: a JWK, PEM, DER, PASERK or a `KeyObject`. */
  static import(key: Jwk | string | Uint8Array | KeyObject, options: ImportOptions = {}): Key {
    if (isKeyObject(key)) return Key.fromKeyObject(key, options)
    return from(bytesOf(key), options, 'any')
  }

  /** As {@link Key.import}, in a thread of the pool: a password takes time by purpose. */
  static async importAsync(key: Jwk | string | Uint8Array, options: ImportOptions = {}): Promise<Key> {
    return new Key(await later(native.keyImportLater(bytesOf(key), importing(options, 'any'))))
  }

  /** Imports a secret: its bytes, or a text whose UTF-8 is the secret. `algorithm` is required. */
  static fromSecret(secret: string | Uint8Array, options: ImportOptions): Key {
    return from(typeof secret === 'string' ? utf8(secret) : secret, options, 'secret')
  }

  /** Imports a secret in base64 or base64url. `algorithm` is required. */
  static fromBase64Secret(secret: string, options: ImportOptions): Key {
    return from(utf8(secret), options, 'secret-base64')
  }

  /** Imports the public key of an X.509 certificate. Nothing checks the certificate. */
  static fromCertificate(certificate: string | Uint8Array, options: ImportOptions = {}): Key {
    return from(bytesOf(certificate), options, 'certificate')
  }

  /** Imports a `KeyObject` of `node:crypto`. */
  static fromKeyObject(key: KeyObject, options: ImportOptions = {}): Key {
    if (!isKeyObject(key)) throw invalid('the key is not a KeyObject')
    if (key.type === 'secret') return Key.fromSecret(key.export(), options)
    const type = key.type === 'private' ? 'pkcs8' : 'spki'
    return from(key.export({ format: 'der', type }), options, 'any')
  }

  /**
   * Creates a key of a password, which encrypts and decrypts JWEs (PBES2). Insecure: who has a token can guess passwords. The
   * sender chooses the cost for the receiver, within limits. Encrypt and decrypt in a thread of the pool.
   */
  static insecurePassword(
    algorithm: PasswordAlgorithm,
    password: string | Uint8Array,
    options: PasswordOptions = {}
  ): Key {
    const data = typeof password === 'string' ? utf8(password) : password
    const found = { ...settings(options, forPassword), alg: name(algorithm), format: 'insecure-password' }
    return new Key(checked(native.keyImport(data, JSON.stringify(found))))
  }

  /** Imports a secret that may be shorter than its hash. Insecure: for a system whose secret cannot be changed. */
  static insecureSecret(
    secret: string | Uint8Array,
    options: ImportOptions & { algorithm: MacAlgorithm }
  ): Key {
    return from(typeof secret === 'string' ? utf8(secret) : secret, options, 'insecure-secret')
  }

  /** Imports a public RSA key of 1,024 bits or more. Insecure: for a system whose key cannot be changed. */
  static insecureRsa(
    key: Jwk | string | Uint8Array,
    options: ImportOptions & { algorithm: SignatureAlgorithm }
  ): Key {
    return from(bytesOf(key), options, 'insecure-rsa')
  }

  /** The public key. */
  publicKey(): Key {
    return new Key(checked(native.keyPublic(this.#handle)))
  }

  /** The algorithm. */
  get algorithm(): Algorithm {
    return this.#export('alg') as Algorithm
  }

  /** The id (`kid`). Of a PASETO key, the id follows from the key. */
  get id(): string | undefined {
    return this.#export('kid') || undefined
  }

  /** Who has it. */
  get kind(): KeyKind {
    return this.#export('kind') as KeyKind
  }

  /** The thumbprint (RFC 7638). */
  thumbprint(): string {
    return this.#export('thumbprint')
  }

  /** The thumbprint as a URI (RFC 9278). */
  thumbprintUri(): string {
    return this.#export('thumbprint-uri')
  }

  /** The public key as a JWK. */
  toJwk(): Jwk {
    return JSON.parse(this.#export('jwk')) as Jwk
  }

  /** The public key as PEM. */
  toPem(): string {
    return this.#export('pem')
  }

  /** The public key as DER. */
  toDer(): Buffer {
    return checked(native.keyExport(this.#handle, 'der'))
  }

  /** The public key as a PASERK. */
  toPaserk(): string {
    return this.#export('paserk')
  }

  /**
   * The key with its secret part. JavaScript cannot wipe it: it stays in memory for an unknown time. `der` returns the bytes,
   * and the other forms a text.
   */
  insecureExport(form: 'der'): Buffer
  insecureExport(form: Exclude<KeyForm, 'der'>): string
  insecureExport(form: KeyForm): string | Buffer {
    const found = checked(native.keyExport(this.#handle, `insecure-${form}`))
    return form === 'der' ? found : found.toString()
  }

  /**
   * Makes one signature and drops it. The first signature of a process takes tens of milliseconds. The first private key that
   * a thread generates or imports does this.
   */
  warmUp(): void {
    checked(native.keyWarmUp(this.#handle))
  }

  /** Releases the key. Issuers and verifiers that have it keep it. Any other use is an error. */
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
  static handle(option: string, key: Key | undefined): Handle | undefined {
    if (key === undefined) return undefined
    if (!(key instanceof Key)) throw invalid(`option \`${option}\`: not a Key`)
    return key.#handle
  }
}

function name(algorithm: unknown): string {
  if (typeof algorithm !== 'string') throw invalid('the algorithm is not a text')
  return algorithm
}

function generating(options: GenerateOptions): string {
  return JSON.stringify(settings(options, forGenerate))
}

function importing(options: ImportOptions, format: string): string {
  return JSON.stringify({ ...settings(options, forImport), format })
}

function from(data: Uint8Array, options: ImportOptions, format: string): Key {
  return Key.from(checked(native.keyImport(data, importing(options, format))))
}

function utf8(text: unknown): Buffer {
  if (typeof text !== 'string') throw invalid('the key is not a text')
  if (!text.isWellFormed()) throw invalid('the text of the key has half of a surrogate pair')
  return Buffer.from(text)
}

function bytesOf(key: Jwk | string | Uint8Array): Uint8Array {
  if (key instanceof Uint8Array) return key
  if (typeof key === 'object' && key !== null) return Buffer.from(JSON.stringify(key))
  return utf8(key)
}

function isKeyObject(key: unknown): key is KeyObject {
  return (
    typeof key === 'object' &&
    key !== null &&
    typeof (key as KeyObject).export === 'function' &&
    ['secret', 'private', 'public'].includes((key as KeyObject).type)
  )
}
