import { checked } from './errors.js'
import { native, type Handle } from './native.js'

/** The header of a verified token. */
export interface VerifiedHeader {
  /** The algorithm of the key that verified the token. */
  readonly algorithm: string
  /** `kid`. */
  readonly keyId: string | undefined
  /** `typ`, spelled as in the options. */
  readonly type: string | undefined
  /** The footer of a PASETO. */
  readonly footer: string | undefined
}

/** Registered claims as they appear in a token. */
interface Registered {
  iss?: string
  sub?: string
  aud?: string | string[]
  jti?: string
}

/** A verified token. */
export class Verified<T = Record<string, unknown>> {
  /** All claims, including registered ones, or the output of the schema. */
  readonly claims: T
  /** The JSON text of the claims, exactly as in the token. */
  readonly json: string
  /** The header. */
  readonly header: VerifiedHeader
  readonly #expiresAt: number
  readonly #notBefore: number
  readonly #issuedAt: number
  readonly #verifier: Handle
  readonly #token: string

  /** @internal */
  constructor(
    claims: T,
    json: string,
    header: VerifiedHeader,
    expiresAt: number,
    notBefore: number,
    issuedAt: number,
    verifier: Handle,
    token: string
  ) {
    this.claims = claims
    this.json = json
    this.header = header
    this.#expiresAt = expiresAt
    this.#notBefore = notBefore
    this.#issuedAt = issuedAt
    this.#verifier = verifier
    this.#token = token
  }

  /**
   * The whole protected header; of a nested JWT, that of the signed JWT inside. A PASETO has none. It is read when it is
   * used, so the verifier must not be closed.
   */
  get protectedHeader(): Readonly<Record<string, unknown>> | undefined {
    const json = checked(native.verifiedHeader(this.#verifier, this.#token))
    return json === null ? undefined : (JSON.parse(json) as Record<string, unknown>)
  }

  /** `iss`. */
  get issuer(): string | undefined {
    return this.#registered.iss
  }

  /** `sub`. */
  get subject(): string | undefined {
    return this.#registered.sub
  }

  /** `aud`. */
  get audiences(): string[] {
    const { aud } = this.#registered
    if (aud === undefined) return []
    return Array.isArray(aud) ? aud : [aud]
  }

  /** `jti`. */
  get tokenId(): string | undefined {
    return this.#registered.jti
  }

  /** `exp`: the first second in which the token is no longer valid. */
  get expiresAt(): Date | undefined {
    return date(this.#expiresAt)
  }

  /** `nbf`. */
  get notBefore(): Date | undefined {
    return date(this.#notBefore)
  }

  /** `iat`. */
  get issuedAt(): Date | undefined {
    return date(this.#issuedAt)
  }

  /** Returns whether the space-separated claim `scope` (RFC 8693) contains this value. */
  hasScope(scope: string): boolean {
    const { scope: all } = this.#registered as { scope?: unknown }
    return typeof all === 'string' && scope !== '' && all.split(' ').includes(scope)
  }

  /** The claims as in the token, even if a schema or the caller changed `claims`. */
  get #registered(): Registered {
    return JSON.parse(this.json) as Registered
  }
}

function date(seconds: number): Date | undefined {
  return Number.isNaN(seconds) ? undefined : new Date(seconds * 1000)
}

export function headerOf(parts: readonly (Buffer | null | false)[]): VerifiedHeader {
  const [algorithm, keyId, type, footer] = parts.map(part => (part ? part.toString() : undefined))
  return Object.freeze({ algorithm: algorithm ?? '', keyId, type, footer })
}
