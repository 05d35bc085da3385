import type { ContentEncryption, SignatureAlgorithm } from './algorithms.js'
import { FixedClock } from './clock.js'
import { JetonError, checked, failed, invalid, later } from './errors.js'
import { Key } from './key.js'
import { native, type Handle } from './native.js'
import { forIssuer, settings, type Duration } from './options.js'

/** What a token is: claims (`jwt`, `paseto`), signed bytes (`jws`) or encrypted bytes (`jwe`). */
export type Format = 'jwt' | 'jws' | 'jwe' | 'paseto'

/** How a JWS or a JWE is written. */
export type Serialization = 'compact' | 'flattened' | 'general'

/** Options of {@link Issuer}. */
export interface IssuerOptions {
  /** The key that signs. With a key for `dir`, JWTs are encrypted. A public key is for {@link Issuer.prepare}. */
  key?: Key
  /** The key that encrypts. With `key`, JWTs are signed and then encrypted. */
  encryption?: Key
  /** `jwt` if the key is not one of PASETO. */
  format?: Format
  /** The claim `iss`. */
  issuer?: string
  /** The claim `aud`. */
  audience?: string | readonly string[]
  /** The time from the issue to the claim `exp`. */
  lifetime?: Duration
  /** Tokens do not expire. */
  withoutExpiry?: boolean
  /** The claim `iat` is this much earlier, for clocks that differ. */
  issuedAgo?: Duration
  /** `typ` of the header. */
  type?: string
  /** `cty` of the header, of bytes. */
  contentType?: string
  /** Tokens are OAuth access tokens (RFC 9068). */
  accessTokens?: boolean
  /** How the content is encrypted: `A256GCM` if it is not set. */
  contentEncryption?: ContentEncryption
  /** The token does not contain the bytes that it signs. */
  detached?: boolean
  /** The bytes are not encoded (RFC 7797). */
  unencoded?: boolean
  /** How a JWS or a JWE is written: `compact` if it is not set. */
  serialization?: Serialization
  /** The footer of a PASETO. */
  footer?: string
  /** The implicit assertion of a PASETO. */
  implicitAssertion?: string
  /** The clock of tests. */
  clock?: FixedClock
}

/** Issues tokens with its key and its options. */
export class Issuer {
  readonly #handle: Handle
  readonly #issue: (claims: unknown) => string | false

  constructor(options: IssuerOptions) {
    const found = settings(options, forIssuer)
    const { key, encryption, clock } = options
    const keyHandle = Key.handle('key', key)
    found['format'] ??= formatOf(key, encryption)
    this.#handle = checked(
      native.issuer(
        keyHandle,
        Key.handle('encryption', encryption),
        FixedClock.handle(clock),
        JSON.stringify(found)
      )
    )
    this.#issue = checked(native.issueFunction(this.#handle))
  }

  /**
   * Issues a token with these claims and those of the options. Registered claims have their names (`sub`, `jti`, …). `exp` is
   * required, or `lifetime`, or `withoutExpiry`.
   */
  issue(claims: object = {}): string {
    let token: string | false
    try {
      token = this.#issue(JSON.stringify(claims))
    } catch (error) {
      throw unserializable(error)
    }
    if (token === false) throw failed()
    return token
  }

  /** As {@link Issuer.issue}, in a thread of the pool. For RSA and for passwords: others take less time than the thread. */
  async issueAsync(claims: object = {}): Promise<string> {
    let text: string | undefined
    try {
      text = JSON.stringify(claims)
    } catch (error) {
      throw unserializable(error)
    }
    return later(native.issueLater(this.#handle, text))
  }

  /** Issues a token with the claims of a JSON text, which must be strict JSON: an object without duplicate members. */
  issueJson(claims: string): string {
    return checked(this.#issue(claims))
  }

  /** Signs or encrypts bytes, with the format `jws`, `jwe` or `paseto`. The UTF-8 of a text is signed. */
  issueBytes(data: Uint8Array | string): string {
    return checked(native.issueBytes(this.#handle, bytes(data)))
  }

  /** As {@link Issuer.issueBytes}, in a thread of the pool. */
  async issueBytesAsync(data: Uint8Array | string): Promise<string> {
    return later(native.issueBytesLater(this.#handle, bytes(data)))
  }

  /** Prepares a token whose signature is made elsewhere, in a KMS or an HSM. The key is public. */
  prepare(claims: object | Uint8Array): PreparedToken {
    let data: Uint8Array
    try {
      data = claims instanceof Uint8Array ? claims : Buffer.from(JSON.stringify(claims))
    } catch (error) {
      throw unserializable(error)
    }
    return new PreparedToken(checked(native.prepare(this.#handle, data)))
  }

  /** Prepares a token, lets `sign` sign it, and returns the token. */
  async issueWith(claims: object | Uint8Array, sign: RemoteSigner): Promise<string> {
    const prepared = this.prepare(claims)
    const signature = await sign(prepared)
    if (signature instanceof Uint8Array) return prepared.attach(signature)
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

/** How a signature is written: as a token has it, or as DER, which most signers return for ECDSA. */
export type SignatureForm = 'fixed' | 'der'

/** Signs what a prepared token needs. */
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

  /** What is signed. */
  get message(): Buffer {
    return checked(native.preparedInput(this.#handle, 'message'))
  }

  /** The hash of the message, for signers that take it. */
  get digest(): Buffer {
    return checked(native.preparedInput(this.#handle, 'digest'))
  }

  /** The algorithm. */
  get algorithm(): SignatureAlgorithm {
    return checked(native.preparedInput(this.#handle, 'alg')).toString() as SignatureAlgorithm
  }

  /** Adds the signature, verifies it with the public key, and returns the token. It takes one signature, valid or not. */
  attach(signature: Uint8Array, form: SignatureForm = 'fixed'): string {
    return checked(native.attach(this.#handle, signature, form))
  }
}

function formatOf(key: Key | undefined, encryption: Key | undefined): Format {
  if (key === undefined) return encryption === undefined ? 'jwt' : 'jwe'
  return /^v\d/.test(key.algorithm) ? 'paseto' : 'jwt'
}

function bytes(data: Uint8Array | string): Uint8Array {
  if (typeof data !== 'string') return data
  if (!data.isWellFormed()) throw invalid('the text has half of a surrogate pair')
  return Buffer.from(data)
}

/** `JSON.stringify` throws for a `BigInt` and for circular claims, and what `toJSON` of the caller throws. */
function unserializable(cause: unknown): unknown {
  if (cause instanceof JetonError) return cause
  return new JetonError('CLAIMS_NOT_SERIALIZABLE', 'the claims have no JSON text', { cause })
}
