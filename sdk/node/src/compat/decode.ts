import type { DecodeOptions, Jwt, JwtHeader, JwtPayload } from './types.js'

const compact = /^[\w-]+\.[\w-]+\.([\w-]+)?$/

/** Reads a token without verifying it, like jsonwebtoken's `decode`. Anyone can make such a token. */
export function decode(token: string, options: DecodeOptions & { complete: true }): Jwt | null
export function decode(token: string, options?: DecodeOptions): JwtPayload | string | null
export function decode(token: unknown, options: DecodeOptions = {}): Jwt | JwtPayload | string | null {
  const text = typeof token === 'string' ? token : String(token)
  if (!compact.test(text)) return null
  const [head, body, signature] = text.split('.') as [string, string, string]
  const header = read(Buffer.from(head, 'base64').toString('latin1')) as JwtHeader | undefined
  if (!header) return null
  let payload: unknown = Buffer.from(body, 'base64').toString()
  // As in jsonwebtoken: a token of the type JWT must contain JSON.
  if (header.typ === 'JWT' || options?.json) payload = JSON.parse(payload as string)
  if (typeof payload === 'string') {
    const parsed = read(payload)
    if (typeof parsed === 'object' && parsed !== null) payload = parsed
  }
  return options?.complete === true ? { header, payload: payload as JwtPayload, signature } : (payload as JwtPayload)
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
