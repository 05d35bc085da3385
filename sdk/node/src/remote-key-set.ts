import type { SignatureAlgorithm } from './algorithms.js'
import { checked, invalid } from './errors.js'
import { fetchWithin, requestOf, type FetchRequest, type FetchResponse } from './fetching.js'
import { native, type Handle } from './native.js'
import { forRemoteKeys, settings, type Duration } from './options.js'

/** Options of {@link RemoteKeySet}: either `address` or `issuer`. */
export interface RemoteKeySetOptions {
  /** The address of the JWK Set. */
  address?: string
  /** The issuer, whose metadata has the address (OpenID Connect Discovery, RFC 8414). */
  issuer?: string
  /** The algorithm of keys without `alg`. */
  defaultAlgorithm?: SignatureAlgorithm
  /** The metadata of the issuer may name a private address. */
  allowPrivateAddresses?: boolean
  /** How long keys are used without a request, if the response does not say. */
  freshFor?: Duration
  /** The shortest time between two requests. */
  cooldown?: Duration
  /** How long keys are used if no request succeeds. */
  usableFor?: Duration
  /**
   * Sends the requests, in place of the client of this library. It must follow no redirects. It decides itself which addresses
   * it connects to.
   */
  fetch?: typeof globalThis.fetch
}

/** Keys that an issuer publishes. The core decides when they are fetched. Verifiers share the set. */
export class RemoteKeySet {
  readonly #handle: Handle
  readonly #fetch: (request: FetchRequest) => Promise<FetchResponse>
  #running: Promise<void> | undefined
  #lastCheck = 0

  constructor(options: RemoteKeySetOptions) {
    const { fetch } = options
    if (fetch !== undefined && typeof fetch !== 'function') {
      throw invalid('option `fetch`: not a function')
    }
    this.#handle = checked(native.remoteKeys(JSON.stringify(settings(options, forRemoteKeys))))
    this.#fetch = request => fetchWithin(request, fetch)
  }

  /** Fetches the keys, if they are not there. Call it when the program starts. */
  async ready(): Promise<void> {
    await this.fetchNow()
  }

  /** Releases the keys. Verifiers that have them keep them. */
  close(): void {
    checked(native.close(this.#handle))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /**
   * Sends the requests that the core asks for. Calls at the same time share them.
   * @internal
   */
  fetchNow(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  /**
   * Sends requests in the background, at most once in a second: keys that are not fresh are used, and fetched again.
   * @internal
   */
  fetchSoon(): void {
    const now = Date.now()
    if (Math.abs(now - this.#lastCheck) < 1000) return
    this.#lastCheck = now
    // The next verification has the error.
    this.fetchNow().catch(() => {})
  }

  async #run(): Promise<void> {
    for (;;) {
      const text = checked(native.remoteNext(this.#handle))
      if (text === null) return
      const request = requestOf(text)
      const { status, headers, body } = await this.#fetch(request)
      checked(native.remoteRespond(this.#handle, request.id, status, headers, body))
    }
  }

  /** @internal */
  static handle(keys: RemoteKeySet): Handle {
    return keys.#handle
  }
}
