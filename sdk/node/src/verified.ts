/** What the header of a verified token says. */
export interface VerifiedHeader {
  /** The algorithm of the key that verified the token. */
  readonly algorithm: string
  /** `kid`. */
  readonly keyId: string | undefined
  /** `typ`, as the options spell it. */
  readonly type: string | undefined
  /** The footer of a PASETO. */
  readonly footer: string | undefined
}

/** Registered claims as a token has them. */
interface Registered {
  iss?: string
  sub?: string
  aud?: string | string[]
  jti?: string
}

/** A verified token. */
export class Verified<T = Record<string, unknown>> {
  /** The claims: all members, also the registered ones. Of a schema, what it returns. */
  readonly claims: T
  /** The claims, byte for byte as the token has them. */
  readonly json: string
  /** The header. */
  readonly header: VerifiedHeader
  readonly #expiresAt: number
  readonly #notBefore: number
  readonly #issuedAt: number

  /** @internal */
  constructor(
    claims: T,
    json: string,
    header: VerifiedHeader,
    expiresAt: number,
    notBefore: number,
    issuedAt: number
  ) {
    this.claims = claims
    this.json = json
    this.header = header
    this.#expiresAt = expiresAt
    this.#notBefore = notBefore
    this.#issuedAt = issuedAt
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

  /** `exp`: the first second in which the token is not valid. */
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

  /** Whether `scope` (RFC 8693), separated by spaces, has this value. */
  hasScope(scope: string): boolean {
    const { scope: all } = this.#registered as { scope?: unknown }
    return typeof all === 'string' && scope !== '' && all.split(' ').includes(scope)
  }

  /** The claims as the token has them, whatever a schema or the caller made of `claims`. */
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
