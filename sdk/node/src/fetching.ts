import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** A request that the core asks for. */
export interface FetchRequest {
  id: number
  url: string
  etag: string | null
  no_cache: boolean
  max_bytes: number
  public_only: boolean
  timeout_milliseconds: number
}

/** A response. The status 0 means that there is no response. */
export interface FetchResponse {
  status: number
  /** One header per line. */
  headers: string
  body: Uint8Array
  /** The reason why there is no response. */
  failure?: unknown
}

/** The second argument of a client. */
export interface RemoteFetchInit {
  headers: Record<string, string>
  redirect: 'manual'
  /** Aborts after 5 seconds. Nothing waits for the client after that. */
  signal: AbortSignal
  /** Connect to public addresses only. */
  publicOnly: boolean
}

/** A client: `fetch`, or a function that implements the part of it used here. */
export type RemoteFetch = (url: string, init: RemoteFetchInit) => Promise<Response>

export function requestOf(text: string): FetchRequest {
  return JSON.parse(text) as FetchRequest
}

/** Sends a request. It never fails: the core decides what to do without a response. */
export async function fetchWithin(request: FetchRequest, fetch: RemoteFetch | undefined): Promise<FetchResponse> {
  const { timeout_milliseconds: milliseconds } = request
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  // A client may ignore the signal, and a response may never end.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no response within ${milliseconds} milliseconds`))
      controller.abort()
    }, milliseconds)
  })
  try {
    const url = checkedUrl(request)
    const { signal } = controller
    return await Promise.race([fetch ? withFetch(request, url, fetch, signal) : withClient(request, url, signal), late])
  } catch (failure) {
    return { status: 0, headers: '', body: new Uint8Array(), failure: failure ?? new Error('the client failed') }
  } finally {
    clearTimeout(timer)
  }
}

/** Parses and checks the address as a client would: `2130706433` is a loopback address. */
function checkedUrl({ url: text, public_only }: FetchRequest): URL {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isPrivate = isIP(host) ? !isPublic(host) : /(^|\.)localhost\.?$/.test(host)
  if (public_only && isPrivate) throw new Error('the address is not public')
  return url
}

function headersOf({ etag, no_cache }: FetchRequest): Record<string, string> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (etag !== null) headers['If-None-Match'] = etag
  if (no_cache) headers['Cache-Control'] = 'no-cache'
  return headers
}

/** The headers that the core reads. */
const readHeaders = ['etag', 'cache-control', 'age']

function linesOf(value: (name: string) => string | null | undefined): string {
  const lines = readHeaders.map(name => [name, value(name)] as const)
  return lines
    .filter(([, found]) => found != null)
    .map(([name, found]) => `${name}: ${found}`)
    .join('\n')
}

async function withFetch(
  request: FetchRequest,
  url: URL,
  fetch: RemoteFetch,
  signal: AbortSignal
): Promise<FetchResponse> {
  const headers = headersOf(request)
  const init = { headers, redirect: 'manual', signal, publicOnly: request.public_only } as const
  const response = await fetch(url.href, init)
  const { status } = response
  if (response.redirected) throw new Error('the client followed a redirect')
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new Error('the client returned no response')
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length
    if (length > request.max_bytes || signal.aborted) break
    parts.push(part)
  }
  // A body over the limit is passed on with one byte too many, so that the core reports it.
  const body = length > request.max_bytes ? new Uint8Array(request.max_bytes + 1) : Buffer.concat(parts)
  return { status, headers: linesOf(name => response.headers.get(name)), body }
}

function withClient(request: FetchRequest, url: URL, signal: AbortSignal): Promise<FetchResponse> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const options = {
      headers: headersOf(request),
      signal,
      ...(request.public_only ? { lookup: lookupPublic } : {})
    }
    const sent = send(url, options, response => {
      const parts: Buffer[] = []
      let length = 0
      const done = (body: Uint8Array) => {
        const headers = linesOf(name => response.headers[name]?.toString())
        resolve({ status: response.statusCode ?? 0, headers, body })
      }
      response.on('data', (part: Buffer) => {
        length += part.length
        parts.push(part)
        if (length > request.max_bytes) {
          done(new Uint8Array(request.max_bytes + 1))
          sent.destroy()
        }
      })
      response.on('end', () => done(Buffer.concat(parts)))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

const privateAddresses = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16],
  ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16],
  ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 3]
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4')
}

/** Global unicast addresses. The second list excludes special ranges within them. */
const globalAddresses = new BlockList()
globalAddresses.addSubnet('2000::', 3, 'ipv6')
const notGlobal = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20]
] as const) {
  notGlobal.addSubnet(network, prefix, 'ipv6')
}

/** Returns whether an address is public: not private, loopback, link-local or reserved. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateAddresses.check(address, 'ipv4')
    case 6:
      return globalAddresses.check(address, 'ipv6') && !notGlobal.check(address, 'ipv6')
    default:
      return false
  }
}

/** Resolves a name to its public addresses. The client connects to the addresses that were checked. */
const lookupPublic: LookupFunction = (name, options, callback) => {
  const all: LookupOptions = { ...options, all: true }
  lookup(name, all, (error, found) => {
    const addresses = error ? [] : (found as LookupAddress[]).filter(({ address }) => isPublic(address))
    const [first] = addresses
    if (error || !first) {
      callback(error ?? Object.assign(new Error('no public address'), { code: 'ENOTFOUND' }), '', 0)
    } else if (options.all) {
      callback(null, addresses as unknown as string)
    } else {
      callback(null, first.address, first.family)
    }
  })
}
