import type { SignatureAlgorithm } from './algorithms.js'
import { JetonError, invalid } from './errors.js'
import type { RemoteFetch } from './fetching.js'
import { KeyFetcher } from './key-fetcher.js'
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
   * Sends the requests, in place of the client of this library. It must follow no redirects. If `publicOnly` is true, it must
   * connect to public addresses only: another party chose the name.
   */
  fetch?: RemoteFetch
}

/** Keys that an issuer publishes. The core decides when they are fetched. Verifiers share the set. */
export class RemoteKeySet {
  #fetcher: KeyFetcher | undefined

  constructor(options: RemoteKeySetOptions) {
    const found = settings(options, forRemoteKeys)
    const { fetch } = options
    if (fetch !== undefined && typeof fetch !== 'function') {
      throw invalid('option `fetch`: not a function')
    }
    this.#fetcher = new KeyFetcher(JSON.stringify(found), fetch)
  }

  /**
   * Fetches the keys, if they are not there. Call it when the program starts. It fails if there are none then: with
   * `KEY_SET_UNREACHABLE` and the `cause`, or with what is wrong with the key set or the metadata.
   */
  async ready(): Promise<void> {
    await RemoteKeySet.fetcher(this).ready()
  }

  /** Releases the keys. Verifiers that have the set keep it, and go on to fetch it. Any other use is an error. */
  close(): void {
    this.#fetcher = undefined
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @internal */
  static fetcher(keys: RemoteKeySet): KeyFetcher {
    if (keys.#fetcher === undefined) throw new JetonError('ARGUMENT_HANDLE', 'the remote key set is closed')
    return keys.#fetcher
  }
}
