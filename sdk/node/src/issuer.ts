import type { SignatureAlgorithm } from './algorithms.js'
import { FixedClock } from './clock.js'
import { JetonError, checked, failed, invalid, later } from './errors.js'
import { Key } from './key.js'
import { native, type Handle } from './native.js'
import { forIssuer, settings } from './options.js'
import type { PlatformKey } from './platform-keys.js'
import type { IssuerSettings } from './settings.js'
import { isBytes, isPlainObject } from './values.js'

/** The format of a token: claims (`jwt`, `paseto`), signed bytes (`jws`) or encrypted bytes (`jwe`). */
export type Format = 'jwt' | 'jws' | 'jwe' | 'paseto'

/** The serialization of a JWS or a JWE. */
export type Serialization = 'compact' | 'flattened' | 'general'

/** Options of {@link Issuer}. */
export interface IssuerOptions extends IssuerSettings {
  /** The key that signs. A `dir` key encrypts JWTs instead. A public key is only for {@link Issuer.prepare}. */
  key?: Key | PlatformKey
  /** The key that encrypts. With `key`, JWTs are signed and then encrypted. */
  encryption?: Key | PlatformKey
  /** The format. The default is `paseto` for PASETO keys, `jwe` with only `encryption`, and `jwt` otherwise. */
  format?: Format
  /** A clock for tests. */
  clock?: FixedClock
}

/** Issues tokens with its key and its options. */
export class Issuer {
  readonly #handle: Handle
  readonly #issue: (claims: unknown) => string | false

  constructor(options: IssuerOptions) {
    const found = settings(options, forIssuer)
    const key = Key.of('key', options.key)
    const encryption = Key.of('encryption', options.encryption)
    found['format'] ??= formatOf(key, encryption)
    this.#handle = checked(
      native.issuer(
        Key.handle(key),
        Key.handle(encryption),
        FixedClock.handle(options.clock),
        JSON.stringify(found)
      )
    )
    this.#issue = checked(native.issueFunction(this.#handle))
  }

  /**
   * Issues a token with these claims, a plain object, and the claims from the options. Registered claims have their
   * usual names (`sub`, `jti`, …). Either `exp`, `lifetime` or `withoutExpiry` is required.
   */
  issue(claims: object = {}): string {
    if (arguments.length > 1) checkSurplus('issue', arguments[1])
    let token: string | false
    try {
      token = this.#issue(textOf(claims))
    } catch (error) {
      throw unserializable(error)
    }
    if (token === false) throw failed()
    return token
  }

  /** Like {@link Issuer.issue}, in the thread pool. Use it for RSA and passwords: other keys are faster without it. */
  async issueAsync(claims: object = {}): Promise<string> {
    if (arguments.length > 1) checkSurplus('issueAsync', arguments[1])
    let text: string | undefined
    try {
      text = textOf(claims)
    } catch (error) {
      throw unserializable(error)
    }
    return later(native.issueLater(this.#handle, text))
  }

  /** Issues a token with claims as JSON text: a strict JSON object without duplicate members. */
  issueJson(claims: string): string {
    if (arguments.length > 1) checkSurplus('issueJson', arguments[1])
    return checked(this.#issue(claims))
  }

  /** Signs or encrypts bytes, with the format `jws`, `jwe` or `paseto`. Strings are encoded as UTF-8. */
  issueBytes(data: Uint8Array | string): string {
    if (arguments.length > 1) checkSurplus('issueBytes', arguments[1])
    return checked(native.issueBytes(this.#handle, bytes(data)))
  }

  /** Like {@link Issuer.issueBytes}, in the thread pool. */
  async issueBytesAsync(data: Uint8Array | string): Promise<string> {
    if (arguments.length > 1) checkSurplus('issueBytesAsync', arguments[1])
    return later(native.issueBytesLater(this.#handle, bytes(data)))
  }

  /**
   * Prepares a token for an external signer, such as a KMS or an HSM. The key of the issuer is public. Bytes are claims
   * as JSON text, or the payload with the format `jws`.
   */
  prepare(claims: object | Uint8Array): PreparedToken {
    if (arguments.length > 1) checkSurplus('prepare', arguments[1])
    let data: Uint8Array
    try {
      data = isBytes(claims) ? claims : Buffer.from(textOf(claims))
    } catch (error) {
      throw unserializable(error)
    }
    return new PreparedToken(checked(native.prepare(this.#handle, data)))
  }

  /** Prepares a token, signs it with `sign`, and returns it. */
  async issueWith(claims: object | Uint8Array, sign: RemoteSigner): Promise<string> {
    if (arguments.length > 2) checkSurplus('issueWith', arguments[2])
    const prepared = this.prepare(claims)
    const signature = await sign(prepared)
    if (isBytes(signature)) return prepared.attach(signature)
    return prepared.attach(signature.signature, signature.form)
  }

  /** Releases the key. Any later use is an error. */
  close(): void {
    checked(native.close(this.#handle))
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** The encoding of a signature: as in a token, or DER, which most signers return for ECDSA. */
export type SignatureForm = 'fixed' | 'der'

/** Signs a prepared token. */
export type RemoteSigner = (
  prepared: PreparedToken
) => Promise<Uint8Array | { signature: Uint8Array; form: SignatureForm }>

/** A token without its signature. */
export class PreparedToken {
  readonly #handle: Handle

  /** @internal */
  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The bytes to sign. */
  get message(): Buffer {
    return checked(native.preparedInput(this.#handle, 'message'))
  }

  /** The hash of the message, for signers that take a digest. */
  get digest(): Buffer {
    return checked(native.preparedInput(this.#handle, 'digest'))
  }

  /** The algorithm. */
  get algorithm(): SignatureAlgorithm {
    return checked(native.preparedInput(this.#handle, 'alg')).toString() as SignatureAlgorithm
  }

  /** Adds the signature, verifies it, and returns the token. It accepts one call, even if the signature is invalid. */
  attach(signature: Uint8Array, form: SignatureForm = 'fixed'): string {
    return checked(native.attach(this.#handle, signature, form))
  }
}

function formatOf(key: Key | undefined, encryption: Key | undefined): Format {
  if (key === undefined) return encryption === undefined ? 'jwt' : 'jwe'
  return /^v\d/.test(key.algorithm) ? 'paseto' : 'jwt'
}

/** Returns claims as JSON. `JSON.stringify` would write bytes as an object, and a `Map` without its members. */
function textOf(claims: object): string {
  if (!isPlainObject(claims) && typeof claims !== 'function' && typeof claims !== 'symbol') {
    throw new JetonError('CLAIMS_NOT_AN_OBJECT', 'the claims are not a plain object')
  }
  return JSON.stringify(claims)
}

/** Throws for an argument after the last one, which would be ignored: it looks like options of one token. */
function checkSurplus(method: string, value: unknown): void {
  if (value === undefined) return
  throw invalid(`${method}: there is an argument too many: set \`headers\` and other options in the constructor of Issuer`)
}

function bytes(data: Uint8Array | string): Uint8Array {
  if (typeof data !== 'string') return data
  if (!data.isWellFormed()) throw invalid('the text contains a lone surrogate')
  return Buffer.from(data)
}

/** Converts errors of `JSON.stringify`: for `BigInt`, circular claims, or a `toJSON` method that throws. */
function unserializable(cause: unknown): unknown {
  if (cause instanceof JetonError) return cause
  return new JetonError('CLAIMS_NOT_SERIALIZABLE', 'the claims cannot be converted to JSON', { cause })
}
