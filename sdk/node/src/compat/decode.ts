import type { DecodeOptions, Jwt, JwtHeader, JwtPayload } from './types.js'

const compact = /^[\w-]+\.[\w-]+\.([\w-]+)?$/

/** Reads a token without verifying it, like jsonwebtoken's `decode`. Anyone can make such a token. */
export function decode(token: string, options: DecodeOptions & { complete: true }): Jwt | null
export function decode(token: string, options?: DecodeOptions): JwtPayload | string | null
export function decode(token: unknown, options: DecodeOptions = {}): Jwt | JwtPayload | string | null {
  const text = typeof token === 'string' ? token : String(token)
  if (!compact.test(text)) return null
  const [head, body, signature] = text.split('.') as [string, string, string]
  const header = read(Buffer.from(head, 'base64').toString()) as JwtHeader | undefined
  if (!header) return null
  // An unencoded payload (RFC 7797) is in the token as it is.
  const content = header['b64'] === false ? body : Buffer.from(body, 'base64').toString()
  const payload = payloadOf(content, header, options?.json)
  return options?.complete === true ? { header, payload, signature } : payload
}

/** Parses the text of a payload. As in jsonwebtoken, a token of the type JWT must contain JSON. */
function payloadOf(text: string, { typ }: JwtHeader, isJson = false): JwtPayload | string {
  let payload: unknown = text
  if (typ === 'JWT' || isJson) payload = JSON.parse(text)
  if (typeof payload === 'string') {
    const parsed = read(payload)
    if (typeof parsed === 'object' && parsed !== null) payload = parsed
  }
  return payload as JwtPayload | string
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
