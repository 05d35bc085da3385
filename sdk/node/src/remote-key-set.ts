import { JetonError, invalid } from './errors.js'
import type { RemoteFetch } from './fetching.js'
import { KeyFetcher } from './key-fetcher.js'
import { forRemoteKeys, settings } from './options.js'
import { proxyOf } from './proxy.js'
import type { RemoteKeySetSettings } from './settings.js'

/** Options of {@link RemoteKeySet}: either `address` or `issuer`. */
export interface RemoteKeySetOptions extends RemoteKeySetSettings {
  /**
   * The proxy of the built-in client for https: a URL with http, which may contain a user name and a password. Loopback
   * hosts need none. The proxy resolves host names, so it must refuse private addresses.
   */
  proxy?: string
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
    const { fetch, proxy } = options
    if (fetch !== undefined && typeof fetch !== 'function') {
      throw invalid('option `fetch`: not a function')
    }
    if (fetch !== undefined && proxy !== undefined) {
      throw invalid('option `proxy`: the client of the option `fetch` does not use it')
    }
    this.#fetcher = new KeyFetcher(JSON.stringify(found), fetch, proxyOf(proxy))
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
