// For tests of services: an issuer with its own keys and clock, without a network.
import './native.js'

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
  /** The time of a clock that stands still. Without it, the system clock is used. */
  now?: Date | number
}

/** Issues tokens like an identity provider, and publishes its keys through its own `fetch`. */
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

  /** Issues a token. `options` override the issuer's options, for example to make an invalid token. */
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

  /** Issues a token signed by another key, with the id of the right key. */
  issueForged(claims: object = {}): string {
    const { id, algorithm } = this.#keys.at(-1)!
    const key = Key.generate(algorithm, { keyId: id ?? '' })
    return this.issue(claims, { key })
  }

  /** Signs with a new key from now on. The old keys stay published. */
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

  /** The number of requests to {@link TestIssuer.fetch}. */
  get requests(): number {
    return this.#requests
  }

  /** Responds with the metadata and the keys, like the issuer's server. */
  readonly fetch: typeof globalThis.fetch = async input => {
    this.#requests++
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.pathname.includes('/.well-known/')) {
      return Response.json({ issuer: this.issuer, jwks_uri: `${this.issuer}/jwks` })
    }
    return url.pathname.endsWith('/jwks') ? Response.json(this.jwks) : new Response(null, { status: 404 })
  }

  /** Creates a remote key set that uses {@link TestIssuer.fetch}. */
  remoteKeys(): RemoteKeySet {
    return new RemoteKeySet({ issuer: this.issuer, fetch: this.fetch })
  }

  /** Creates a verifier for the tokens. */
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
