// An HTTP proxy for the built-in client.
import { request as httpRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect, type TLSSocket } from 'node:tls'

import { invalid } from './errors.js'

/** A proxy from the option `proxy`. */
export interface Proxy {
  host: string
  port: number
  /** The header `Proxy-Authorization`. */
  authorization: string | undefined
}

/** Reads the option `proxy`: a URL with `http`, which may contain a user name and a password. */
export function proxyOf(option: unknown): Proxy | undefined {
  if (option === undefined) return undefined
  const url = typeof option === 'string' && URL.canParse(option) ? new URL(option) : undefined
  if (url?.protocol !== 'http:') throw invalid('option `proxy`: not an http URL')
  const { hostname, port, username, password } = url
  const user = username === '' && password === '' ? undefined : `${decoded(username)}:${decoded(password)}`
  return {
    host: withoutBrackets(hostname),
    port: Number(port || 80),
    authorization: user === undefined ? undefined : `Basic ${Buffer.from(user).toString('base64')}`
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('option `proxy`: the user name or the password has an invalid percent-encoding')
  }
}

export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

/** Returns whether a host is this machine, which needs no proxy. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Opens a connection to a server through a proxy, with CONNECT (RFC 9110, section 9.3.6) and TLS. */
export async function connectThrough(proxy: Proxy, url: URL, agent: string, signal: AbortSignal): Promise<TLSSocket> {
  const target = `${url.hostname}:${url.port || 443}`
  const headers: Record<string, string> = { Host: target, 'User-Agent': agent }
  if (proxy.authorization !== undefined) headers['Proxy-Authorization'] = proxy.authorization
  const { host, port } = proxy
  const tunnel = await new Promise<Socket>((resolve, reject) => {
    const asked = httpRequest({ host, port, method: 'CONNECT', path: target, headers, signal, agent: false })
    asked.on('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) {
        resolve(socket)
      } else {
        socket.destroy()
        reject(new Error(`the proxy refused the connection: ${statusCode}`))
      }
    })
    asked.on('response', response => {
      response.destroy()
      reject(new Error(`the proxy refused the connection: ${response.statusCode}`))
    })
    asked.on('error', reject)
    asked.end()
  })
  const name = withoutBrackets(url.hostname)
  return new Promise((resolve, reject) => {
    const secure = tlsConnect({ socket: tunnel, host: name, ...(isIP(name) ? {} : { servername: name }) })
    const stop = () => secure.destroy(new Error('the request was aborted'))
    signal.addEventListener('abort', stop, { once: true })
    secure.on('secureConnect', () => {
      signal.removeEventListener('abort', stop)
      resolve(secure)
    })
    secure.on('error', reject)
  })
}
