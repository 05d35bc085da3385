import type { SignatureAlgorithm } from './algorithms.js'
import { JetonError, invalid } from './errors.js'
import type { RemoteFetch } from './fetching.js'
import { KeyFetcher } from './key-fetcher.js'
import { forRemoteKeys, settings, type Duration } from './options.js'

/** Options of {@link RemoteKeySet}: either `address` or `issuer`. */
export interface RemoteKeySetOptions {
  /** The address of the JWK Set. */
  address?: string
  /** The issuer. Its metadata contains the address (OpenID Connect Discovery, RFC 8414). */
  issuer?: string
  /** The algorithm of keys without `alg`. */
  defaultAlgorithm?: SignatureAlgorithm
  /** Allows private addresses in the metadata of the issuer. */
  allowPrivateAddresses?: boolean
  /** How long keys are used without a new request, if the response does not set it. */
  freshFor?: Duration
  /** The shortest time between two requests. */
  cooldown?: Duration
  /** How long keys are used while requests fail. */
  usableFor?: Duration
  /**
   * Sends the requests. It replaces the built-in client and must not follow redirects. If `publicOnly` is true, it must
   * connect to public addresses only, because another party chose the host name.
   */
  fetch?: RemoteFetch
}

/** A remote key set. The core decides when to fetch it. Verifiers can share it. */
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
   * Fetches the keys if they are missing. Call it when the program starts. Without keys, it fails with
   * `KEY_SET_UNREACHABLE` and a `cause`, or with the error in the key set or the metadata.
   */
  async ready(): Promise<void> {
    await RemoteKeySet.fetcher(this).ready()
  }

  /** Closes the set. Its verifiers keep it and continue to fetch it. Any other use is an error. */
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
