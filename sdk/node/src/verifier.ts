import type { ContentEncryption } from './algorithms.js'
import { largeNumbersOf, readLargeNumbers, type LargeNumbers } from './claims.js'
import { FixedClock } from './clock.js'
import { JetonError, checked, failed, invalid, later } from './errors.js'
import type { Format, Serialization } from './issuer.js'
import { Key } from './key.js'
import { KeySet } from './key-set.js'
import { native, type Handle, type VerifyFunctions } from './native.js'
import { forVerifier, settings, type Duration } from './options.js'
import type { KeyFetcher } from './key-fetcher.js'
import { RemoteKeySet } from './remote-key-set.js'
import { checkOf, type Check, type ClaimsSchema } from './schema.js'
import { Verified, headerOf, type VerifiedHeader } from './verified.js'

/** The largest parts of a token. */
export interface Limits {
  tokenBytes?: number
  headerBytes?: number
  jsonDepth?: number
  keyIdBytes?: number
  /** How many keys are tried for a token without `kid`. */
  keysTried?: number
}

/** Options of {@link Verifier}. */
export interface VerifierOptions<T = Record<string, unknown>> {
  /** The keys that verify, or a content key for `dir`. */
  keys?: Key | KeySet | RemoteKeySet | readonly Key[]
  /** The keys that decrypt. With them, JWTs are signed and then encrypted. */
  decryption?: Key | KeySet | readonly Key[]
  /** `jwt` if the keys are not those of PASETO. */
  format?: Format
  /** The issuers that are accepted (`iss`). */
  issuer?: string | readonly string[]
  /** Accepts tokens of any issuer. */
  anyIssuer?: boolean
  /** The audiences, one of which a token must have (`aud`). */
  audience?: string | readonly string[]
  /** Accepts tokens for any audience. */
  anyAudience?: boolean
  /** Accepts tokens without `exp`. */
  withoutExpiry?: boolean
  /** The types that are accepted (`typ`). */
  type?: string | readonly string[]
  /** Tokens are OAuth access tokens (RFC 9068). */
  accessTokens?: boolean
  /** Claims that a token must have. */
  required?: readonly string[]
  /** How far clocks may differ. */
  leeway?: Duration
  /** How old a token may be (`iat`). */
  maxAge?: Duration
  /** How the content may be encrypted. */
  contentEncryption?: ContentEncryption | readonly ContentEncryption[]
  /** How a JWS or a JWE is written: `compact` if it is not set. */
  serialization?: Serialization
  /** The footer that a PASETO must have. */
  footer?: string
  /** The implicit assertion of a PASETO. */
  implicitAssertion?: string
  /** The number of verified tokens to remember. 0 or absent: none. */
  cache?: number
  /** The largest parts of a token. */
  limits?: Limits
  /** Checks the claims and gives them their type. Without it, nothing checks that the claims are a `T`. */
  schema?: ClaimsSchema<T>
  /** What happens to whole numbers above 2^53 - 1: `reject` if it is not set. */
  largeNumbers?: LargeNumbers
  /** The clock of tests. */
  clock?: FixedClock
}

/** Verifies tokens with its keys and its options. */
export class Verifier<T = Record<string, unknown>> {
  readonly #handle: Handle
  readonly #verify: VerifyFunctions[0]
  readonly #headerPart: VerifyFunctions[1]
  /**
   * What the native part writes: the number of the header, the times, and whether numbers may be rounded. It is read directly
   * after the call: a schema or a client may verify another token.
   */
  readonly #state = new Float64Array(new ArrayBuffer(40))
  #headerNumber = 0
  #header: VerifiedHeader | undefined
  readonly #check: Check<T> | undefined
  readonly #largeNumbers: LargeNumbers
  readonly #fetcher: KeyFetcher | undefined
  readonly #decrypts: boolean

  constructor(options: VerifierOptions<T>) {
    const found = settings(options, forVerifier)
    const { keys, decryption, clock, schema } = options
    const key = keys instanceof Key ? keys : undefined
    const remote = keys instanceof RemoteKeySet ? keys : undefined
    const set = key || remote ? undefined : setOf('keys', keys)
    found['format'] ??= formatOf(key, keys, decryption)
    if (found['cache'] === 0) delete found['cache']
    this.#check = schema === undefined ? undefined : checkOf(schema)
    this.#largeNumbers = largeNumbersOf(options.largeNumbers)
    this.#fetcher = remote && RemoteKeySet.fetcher(remote)
    this.#decrypts = decryption !== undefined
    this.#handle = checked(
      native.verifier(
        Key.handle('keys', key),
        set && KeySet.handle('keys', set),
        decryption && KeySet.handle('decryption', setOf('decryption', decryption)!),
        this.#fetcher?.handle,
        FixedClock.handle(clock),
        JSON.stringify(found)
      )
    )
    ;[this.#verify, this.#headerPart] = checked(native.verifyFunctions(this.#handle, this.#state))
  }

  /**
   * Verifies a token and returns its claims.
   *
   * With a remote key set, it uses the keys that are there, and fetches them again in the background before they are too old.
   * `KEY_SET_TO_FETCH` says that there are none. Use {@link Verifier.verifyAsync} for it.
   */
  verify(token: string): Verified<T> {
    const json = this.#verify(token)
    if (json === false) throw this.#failed()
    const header = this.#headerNow()
    const state = this.#state
    const expiresAt = state[1]!
    const notBefore = state[2]!
    const issuedAt = state[3]!
    const mayBeRounded = state[4] !== 0
    this.#fetcher?.soon()
    const raw: unknown = mayBeRounded ? readLargeNumbers(json, this.#largeNumbers) : JSON.parse(json)
    const claims = this.#check === undefined ? (raw as T) : this.#checkedNow(raw)
    return new Verified<T>(claims, json, header, expiresAt, notBefore, issuedAt)
  }

  /**
   * Verifies a token, and fetches the keys of a remote key set if it must. Keys that decrypt work in a thread of the pool, and
   * a schema may be asynchronous.
   */
  async verifyAsync(token: string): Promise<Verified<T>> {
    if (this.#decrypts) return this.#verifyLater(token)
    let json = this.#verify(token)
    for (let round = 0; json === false; round++) {
      const error = failed()
      if (!this.#fetcher) throw error
      await this.#fetcher.round(round, error)
      json = this.#verify(token)
    }
    const header = this.#headerNow()
    const [, expiresAt, notBefore, issuedAt, mayBeRounded] = this.#state
    this.#fetcher?.soon()
    const claims = await this.#read(json, mayBeRounded !== 0)
    return new Verified<T>(claims, json, header, expiresAt!, notBefore!, issuedAt!)
  }

  /** Verifies a token and returns its claims as text, which is not parsed. A schema is not used. */
  verifyJson(token: string): Verified<undefined> {
    const json = this.#verify(token)
    if (json === false) throw this.#failed()
    const header = this.#headerNow()
    const state = this.#state
    const verified = new Verified(undefined, json, header, state[1]!, state[2]!, state[3]!)
    this.#fetcher?.soon()
    return verified
  }

  /** Verifies or decrypts a token with the format `jws` or `jwe`. `content` is what a detached JWS signs. */
  verifyBytes(token: string, content?: Uint8Array): Buffer {
    return checked(native.verifyBytes(this.#handle, token, content))
  }

  /** As {@link Verifier.verifyBytes}, in a thread of the pool. */
  async verifyBytesAsync(token: string, content?: Uint8Array): Promise<Buffer> {
    return later(native.verifyBytesLater(this.#handle, token, content))
  }

  /** Releases the keys. Any later use is an error. */
  close(): void {
    checked(native.close(this.#handle))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async #verifyLater(token: string): Promise<Verified<T>> {
    const [json, alg, kid, typ, footer, expiresAt, notBefore, issuedAt, mayBeRounded] = await later(
      native.verifyLater(this.#handle, token)
    )
    const claims = await this.#read(json, mayBeRounded !== 0)
    const header = headerOf([alg, kid, typ, footer])
    return new Verified<T>(claims, json, header, expiresAt, notBefore, issuedAt)
  }

  #read(json: string, mayBeRounded: boolean): T | Promise<T> {
    const raw: unknown = mayBeRounded ? readLargeNumbers(json, this.#largeNumbers) : JSON.parse(json)
    return this.#check === undefined ? (raw as T) : this.#check(raw)
  }

  #checkedNow(raw: unknown): T {
    const claims = this.#check!(raw)
    if (claims instanceof Promise) {
      claims.catch(() => {})
      throw invalid('the schema is asynchronous: use verifyAsync')
    }
    return claims
  }

  /** The header of the token that was verified last. Most tokens have the same, which is kept. */
  #headerNow(): VerifiedHeader {
    const number = this.#state[0]!
    if (number !== this.#headerNumber || this.#header === undefined) {
      this.#header = headerOf([0, 1, 2, 3].map(index => checked(this.#headerPart(index))))
      this.#headerNumber = number
    }
    return this.#header
  }

  #failed(): JetonError {
    const error = failed()
    if (error.code === 'KEY_SET_TO_FETCH') this.#fetcher?.inBackground()
    return this.#fetcher?.explain(error) ?? error
  }
}

function setOf(option: string, keys: unknown): KeySet | undefined {
  if (keys === undefined || keys instanceof KeySet) return keys
  if (keys instanceof Key) return new KeySet([keys])
  if (Array.isArray(keys)) return new KeySet(keys as Key[])
  throw invalid(`option \`${option}\`: not a Key, a KeySet or a list of keys`)
}

function formatOf(key: Key | undefined, keys: unknown, decryption: unknown): Format {
  const first: unknown = key ?? (Array.isArray(keys) ? keys[0] : undefined)
  if (first instanceof Key && /^v\d/.test(first.algorithm)) return 'paseto'
  if (keys instanceof KeySet && keys.isPaseto) return 'paseto'
  return keys === undefined && decryption !== undefined ? 'jwe' : 'jwt'
}
