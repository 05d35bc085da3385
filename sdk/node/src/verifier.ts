import { largeNumbersOf, readLargeNumbers, type LargeNumbers } from './claims.js'
import { FixedClock } from './clock.js'
import { JetonError, checked, failed, invalid, later } from './errors.js'
import type { Format } from './issuer.js'
import { Key } from './key.js'
import { KeySet } from './key-set.js'
import { native, type Handle, type VerifyFunctions } from './native.js'
import { forVerifier, forVerify, settings } from './options.js'
import type { KeyFetcher } from './key-fetcher.js'
import { isCryptoKey, isKeyObject, type PlatformKey } from './platform-keys.js'
import { RemoteKeySet } from './remote-key-set.js'
import { checkOf, type Check, type ClaimsSchema } from './schema.js'
import type { VerifierSettings } from './settings.js'
import { Verified, headerOf, type VerifiedHeader } from './verified.js'

/** Options of {@link Verifier}. */
export interface VerifierOptions<T = Record<string, unknown>> extends VerifierSettings {
  /** The keys that verify, or a `dir` key. */
  keys?: Key | PlatformKey | KeySet | RemoteKeySet | readonly (Key | PlatformKey)[]
  /** The keys that decrypt. With both `keys` and `decryption`, JWTs must be signed and then encrypted. */
  decryption?: Key | PlatformKey | KeySet | readonly (Key | PlatformKey)[]
  /** The format. The default is `paseto` for PASETO keys, `jwe` with only `decryption`, and `jwt` otherwise. */
  format?: Format
  /** Checks the claims and gives them their type. Without it, nothing checks that the claims match `T`. */
  schema?: ClaimsSchema<T>
  /** The handling of integers above 2^53 - 1. The default is `reject`. */
  largeNumbers?: LargeNumbers
  /** A clock for tests. */
  clock?: FixedClock
}

/** Options of {@link Verifier.verifyAsync}. */
export interface VerifyOptions {
  /** Stops waiting: the call then fails with the reason of the signal. A fetch continues for other callers. */
  signal?: AbortSignal
}

/** Verifies tokens with its keys and its options. */
export class Verifier<T = Record<string, unknown>> {
  readonly #handle: Handle
  readonly #verify: VerifyFunctions[0]
  readonly #headerPart: VerifyFunctions[1]
  /**
   * Written by the native module: the header number, the times, and whether numbers may be rounded. It is read directly
   * after the call, because a schema or a client may verify another token.
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
    const { clock, schema } = options
    const keys = options.keys instanceof RemoteKeySet ? options.keys : keysOf('keys', options.keys)
    const decryption = keysOf('decryption', options.decryption)
    const key = keys instanceof Key ? keys : undefined
    const remote = keys instanceof RemoteKeySet ? keys : undefined
    const set = keys instanceof RemoteKeySet || key ? undefined : setOf(keys)
    found['format'] ??= formatOf(key, keys, decryption)
    if (found['cache'] === 0) delete found['cache']
    this.#check = schema === undefined ? undefined : checkOf(schema)
    this.#largeNumbers = largeNumbersOf(options.largeNumbers)
    this.#fetcher = remote && RemoteKeySet.fetcher(remote)
    this.#decrypts = decryption !== undefined
    this.#handle = checked(
      native.verifier(
        Key.handle(key),
        set && KeySet.handle('keys', set),
        decryption && KeySet.handle('decryption', setOf(decryption)!),
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
   * With a remote key set, it uses the keys already fetched, and refreshes them in the background before they are too
   * old. Without keys, it throws `KEY_SET_TO_FETCH`. Use {@link Verifier.verifyAsync} to fetch them.
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
    return new Verified<T>(claims, json, header, expiresAt, notBefore, issuedAt, this.#handle, token)
  }

  /**
   * Verifies a token, and fetches the keys of a remote key set if needed. Only decryption runs in the thread pool. A
   * schema may be asynchronous.
   */
  async verifyAsync(token: string, options?: VerifyOptions): Promise<Verified<T>> {
    const signal = options === undefined ? undefined : signalOf(options)
    return signal ? abortable(signal, () => this.#verifyAsync(token)) : this.#verifyAsync(token)
  }

  async #verifyAsync(token: string): Promise<Verified<T>> {
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
    return new Verified<T>(claims, json, header, expiresAt!, notBefore!, issuedAt!, this.#handle, token)
  }

  /** Verifies a token and returns its claims as unparsed JSON text. It does not use the schema. */
  verifyJson(token: string): Verified<undefined> {
    const json = this.#verify(token)
    if (json === false) throw this.#failed()
    const header = this.#headerNow()
    const state = this.#state
    const verified = new Verified(undefined, json, header, state[1]!, state[2]!, state[3]!, this.#handle, token)
    this.#fetcher?.soon()
    return verified
  }

  /** Verifies or decrypts a token of the format `jws` or `jwe`. `content` is the content of a detached JWS. */
  verifyBytes(token: string, content?: Uint8Array): Buffer {
    return checked(native.verifyBytes(this.#handle, token, content))
  }

  /** @internal Verifies a token of the format `jws` whose content the caller has. */
  verifySignature(token: string): void {
    checked(native.verifySignature(this.#handle, token))
  }

  /** Like {@link Verifier.verifyBytes}, in the thread pool. */
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
    return new Verified<T>(claims, json, header, expiresAt, notBefore, issuedAt, this.#handle, token)
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

  /** Returns the header of the last verified token. It is cached, because most tokens share a header. */
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

type LocalKeys = Key | KeySet | readonly Key[] | undefined

/** Imports the keys of Node. */
function keysOf(option: string, keys: unknown): LocalKeys {
  if (keys === undefined || keys instanceof Key || keys instanceof KeySet) return keys
  if (isKeyObject(keys) || isCryptoKey(keys)) return Key.of(option, keys)
  if (Array.isArray(keys)) return keys.map(key => Key.of(option, key as Key))
  throw invalid(`option \`${option}\`: not a key, a KeySet or a list of keys`)
}

function setOf(keys: LocalKeys): KeySet | undefined {
  if (keys === undefined || keys instanceof KeySet) return keys
  return new KeySet(keys instanceof Key ? [keys] : keys)
}

function formatOf(key: Key | undefined, keys: unknown, decryption: LocalKeys): Format {
  const first: unknown = key ?? (Array.isArray(keys) ? keys[0] : undefined)
  if (first instanceof Key && /^v\d/.test(first.algorithm)) return 'paseto'
  if (keys instanceof KeySet && keys.isPaseto) return 'paseto'
  return keys === undefined && decryption !== undefined ? 'jwe' : 'jwt'
}

function signalOf(options: VerifyOptions): AbortSignal | undefined {
  settings(options, forVerify)
  const { signal } = options
  if (signal === undefined || (typeof signal?.aborted === 'boolean' && typeof signal.addEventListener === 'function')) return signal
  throw invalid('option `signal`: not an AbortSignal')
}

/** Returns the result of `run`, or fails when the signal does. */
async function abortable<R>(signal: AbortSignal, run: () => Promise<R>): Promise<R> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([run(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
