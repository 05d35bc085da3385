import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

import { connectThrough, isLoopback, withoutBrackets, type Proxy } from './proxy.js'

/** A request that the core asks for. */
export interface FetchRequest {
  id: number
  url: string
  etag: string | null
  no_cache: boolean
  max_bytes: number
  public_only: boolean
  timeout_milliseconds: number
  /** The version of the core, which is that of the package. */
  version: string
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
export async function fetchWithin(
  request: FetchRequest,
  fetch: RemoteFetch | undefined,
  proxy: Proxy | undefined
): Promise<FetchResponse> {
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
    const answered = fetch ? withFetch(request, url, fetch, signal) : withClient(request, url, signal, proxy)
    return await Promise.race([answered, late])
  } catch (failure) {
    return { status: 0, headers: '', body: new Uint8Array(), failure: failure ?? new Error('the client failed') }
  } finally {
    clearTimeout(timer)
  }
}

/** Parses and checks the address as a client would: `2130706433` is a loopback address. */
function checkedUrl({ url: text, public_only }: FetchRequest): URL {
  const url = new URL(text)
  const host = withoutBrackets(url.hostname)
  const isPrivate = isIP(host) ? !isPublic(host) : /(^|\.)localhost\.?$/.test(host)
  if (public_only && isPrivate) throw new Error('the address is not public')
  return url
}

function agentOf({ version }: FetchRequest): string {
  return `jeton-node/${version}`
}

function headersOf(request: FetchRequest): Record<string, string> {
  const { etag, no_cache } = request
  const headers: Record<string, string> = {
    Accept: 'application/jwk-set+json, application/json',
    'Accept-Encoding': 'identity',
    'User-Agent': agentOf(request)
  }
  if (etag !== null) headers['If-None-Match'] = etag
  if (no_cache) headers['Cache-Control'] = 'no-cache'
  return headers
}

/** The headers that the core reads. */
const readHeaders = ['etag', 'cache-control', 'age', 'retry-after']

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

async function withClient(
  request: FetchRequest,
  url: URL,
  signal: AbortSignal,
  proxy: Proxy | undefined
): Promise<FetchResponse> {
  const isHttps = url.protocol === 'https:'
  const send = isHttps ? httpsRequest : httpRequest
  // The proxy resolves the name, and must check its addresses.
  const tunnel =
    proxy && isHttps && !isLoopback(withoutBrackets(url.hostname))
      ? await connectThrough(proxy, url, agentOf(request), signal)
      : undefined
  return new Promise((resolve, reject) => {
    const options = {
      headers: headersOf(request),
      signal,
      // Without an agent, the connection is used once, and Node takes 80 for the port of the header `Host`.
      ...(tunnel ? { createConnection: () => tunnel, defaultPort: 443 } : {}),
      ...(!tunnel && request.public_only ? { lookup: lookupPublic } : {})
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
  ['2001::', 23], ['2001:db8::', 32], ['3fff::', 20]
] as const) {
  notGlobal.addSubnet(network, prefix, 'ipv6')
}

/** Returns whether an address is public: not private, loopback, link-local or reserved. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateAddresses.check(address, 'ipv4')
    case 6:
      return isPublicV6(address)
    default:
      return false
  }
}

function isPublicV6(address: string): boolean {
  const embedded = embeddedIn(address)
  if (embedded !== undefined) return !privateAddresses.check(embedded, 'ipv4')
  return globalAddresses.check(address, 'ipv6') && !notGlobal.check(address, 'ipv6')
}

/** Returns the IPv4 address in an IPv6 address: IPv4-mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056). */
function embeddedIn(address: string): string | undefined {
  const groups = groupsOf(address)
  const quad = (at: number) => groups.slice(at, at + 2).flatMap(group => [group >> 8, group & 0xff]).join('.')
  const begins = (...start: number[]) => start.every((group, index) => groups[index] === group)
  if (begins(0, 0, 0, 0, 0, 0xffff) || begins(0x64, 0xff9b, 0, 0, 0, 0)) return quad(6)
  return begins(0x2002) ? quad(1) : undefined
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes an IPv4 part as two groups.
  const [text = ''] = withoutBrackets(new URL(`http://[${address.split('%')[0]}]`).hostname).split('%')
  const [head = '', tail] = text.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16)))
  if (tail === undefined) return numbers(head)
  const [start, end] = [numbers(head), numbers(tail)]
  return [...start, ...new Array<number>(8 - start.length - end.length).fill(0), ...end]
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
