// For tests of services: an issuer with keys of its own, and a clock, without a network.
import type { SignatureAlgorithm } from './algorithms.js'
import { FixedClock } from './clock.js'
import { Issuer, type IssuerOptions } from './issuer.js'
import { Key } from './key.js'
import { KeySet, type JwkSet } from './key-set.js'
import { RemoteKeySet } from './remote-key-set.js'
import { Verifier, type VerifierOptions } from './verifier.js'

/** Options of {@link TestIssuer}. */
export interface TestIssuerOptions {
  issuer?: string
  audience?: string
  algorithm?: SignatureAlgorithm
  /** The time at which the clock stands. Without it, the clock is that of the system. */
  now?: Date | number
}

/** Issues tokens as an identity provider does, and publishes its keys to a `fetch` of its own. */
export class TestIssuer {
  readonly issuer: string
  readonly audience: string
  readonly clock: FixedClock | undefined
  #keys: Key[]
  #issuing: Issuer
  #requests = 0

  constructor(options: TestIssuerOptions = {}) {
    this.issuer = options.issuer ?? 'https://issuer.test'
    this.audience = options.audience ?? 'api'
    this.clock = options.now === undefined ? undefined : new FixedClock(options.now)
    const key = Key.generate(options.algorithm ?? 'ES256', { keyId: 'test-1' })
    this.#keys = [key]
    this.#issuing = this.#issuerOf(key)
  }

  /** Issues a token. `options` replace those of the issuer, to make a token that is wrong. */
  issue(claims: object = {}, options?: Partial<IssuerOptions>): string {
    const issuing = options ? this.#issuerOf(this.#keys.at(-1)!, options) : this.#issuing
    return issuing.issue(claims)
  }

  /** Issues a token that expired an hour ago. */
  issueExpired(claims: object = {}): string {
    const now = this.clock?.seconds ?? Math.floor(Date.now() / 1000)
    const clock = new FixedClock(now - 7200)
    return this.issue(claims, { clock, lifetime: 3600 })
  }

  /** Issues a token that another key signed, with the id of the right key. */
  issueForged(claims: object = {}): string {
    const { id, algorithm } = this.#keys.at(-1)!
    const key = Key.generate(algorithm, { keyId: id ?? '' })
    return this.issue(claims, { key })
  }

  /** Signs with a new key from now on. The old ones stay published. */
  rotate(): void {
    const { algorithm } = this.#keys.at(-1)!
    const key = Key.generate(algorithm, { keyId: `test-${this.#keys.length + 1}` })
    this.#keys = [...this.#keys, key]
    this.#issuing = this.#issuerOf(key)
  }

  /** The public keys. */
  get keys(): KeySet {
    return new KeySet(this.#keys)
  }

  /** The public keys as a JWK Set. */
  get jwks(): JwkSet {
    return this.keys.toJwks()
  }

  /** How many requests {@link TestIssuer.fetch} responded to. */
  get requests(): number {
    return this.#requests
  }

  /** Responds with the metadata and the keys of the issuer, as its server would. */
  readonly fetch: typeof globalThis.fetch = async input => {
    this.#requests++
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.pathname.includes('/.well-known/')) {
      return Response.json({ issuer: this.issuer, jwks_uri: `${this.issuer}/jwks` })
    }
    return url.pathname.endsWith('/jwks') ? Response.json(this.jwks) : new Response(null, { status: 404 })
  }

  /** A remote key set that uses {@link TestIssuer.fetch}. */
  remoteKeys(): RemoteKeySet {
    return new RemoteKeySet({ issuer: this.issuer, fetch: this.fetch })
  }

  /** A verifier of the tokens. */
  verifier<T = Record<string, unknown>>(options: Partial<VerifierOptions<T>> = {}): Verifier<T> {
    const { issuer, audience, clock, keys } = this
    return new Verifier<T>({ keys, issuer, audience, ...(clock && { clock }), ...options })
  }

  #issuerOf(key: Key, options: Partial<IssuerOptions> = {}): Issuer {
    const { issuer, audience, clock } = this
    const chosen = { key, issuer, audience, lifetime: 3600, ...(clock && { clock }), ...options }
    return new Issuer(chosen)
  }
}
