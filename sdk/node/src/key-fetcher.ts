import { JetonError, checked, failed } from './errors.js'
import { fetchWithin, requestOf, type RemoteFetch } from './fetching.js'
import { native, type Handle } from './native.js'
import type { Proxy } from './proxy.js'

/** The requests of one fetch: at most three metadata addresses, the key set, and a call that finds no more. */
const requestsOfFetch = 5

/** The rounds of one verification: a running fetch, discovery and the key set, and again for an unknown `kid`. */
const rounds = 4

/** The shortest time between two checks whether a fetch is due, in milliseconds. */
const pause = 1000

/** Sends the requests of a remote key set. The set and its verifiers share it: a verifier may outlive its set. */
export class KeyFetcher {
  readonly handle: Handle
  readonly #fetch: RemoteFetch | undefined
  readonly #proxy: Proxy | undefined
  #running: Promise<void> | undefined
  #lastCheck = 0
  /** The reason why the last request has no response. */
  #failure: unknown

  constructor(settings: string, fetch: RemoteFetch | undefined, proxy: Proxy | undefined) {
    this.handle = checked(native.remoteKeys(settings))
    this.#fetch = fetch
    this.#proxy = proxy
  }

  /** Fetches the keys if they are missing. */
  async ready(): Promise<void> {
    for (let round = 0; native.remoteReady(this.handle) === false; round++) {
      await this.round(round, failed())
    }
  }

  /** Fetches after an error, before the next attempt. Throws the error if another attempt is pointless. */
  async round(round: number, error: JetonError): Promise<void> {
    if (error.code !== 'KEY_SET_TO_FETCH') throw this.explain(error)
    // Without a pause between requests, the core asks for the next one immediately.
    if (round > 0 && this.#failure !== undefined) throw this.#unreachable()
    if (round === rounds) {
      // Other calls verified the same token, and their fetches answered them.
      this.inBackground()
      throw native.remoteReady(this.handle) === false ? this.#unreachable() : unknownKey()
    }
    await this.#now()
  }

  /** Starts a fetch after a verification if one is due. Stale keys are still used until then. */
  soon(): void {
    const now = Date.now()
    if (Math.abs(now - this.#lastCheck) < pause) return
    this.#lastCheck = now
    this.inBackground()
  }

  /** Fetches what the core asks for. The next verification reports the error. */
  inBackground(): void {
    this.#now().catch(() => {})
  }

  /** Returns the error, with its cause if a request had no response. */
  explain(error: JetonError): JetonError {
    if (error.code !== 'KEY_SET_UNREACHABLE' || this.#failure === undefined) return error
    return new JetonError(error.code, error.message, { cause: this.#failure })
  }

  #unreachable(): JetonError {
    return this.explain(new JetonError('KEY_SET_UNREACHABLE', 'the key set could not be fetched'))
  }

  /** Sends the requests that the core asks for. Concurrent calls share them. */
  #now(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<void> {
    // The core may ask again immediately, depending on the options.
    for (let sent = 0; sent < requestsOfFetch; sent++) {
      const text = checked(native.remoteNext(this.handle))
      if (text === null) return
      const request = requestOf(text)
      const { status, headers, body, failure } = await fetchWithin(request, this.#fetch, this.#proxy)
      this.#failure = failure
      checked(native.remoteRespond(this.handle, request.id, status, headers, body))
      // The fetch is over.
      if (failure !== undefined) return
    }
  }
}

function unknownKey(): JetonError {
  return new JetonError('TOKEN_UNKNOWN_KEY', "no key matches the token's `kid` and `alg`")
}
