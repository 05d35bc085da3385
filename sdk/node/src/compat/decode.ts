import { checkedDecodeOptions } from './options.js'
import type { DecodeOptions, Jwt, JwtHeader, JwtPayload } from './types.js'

const compact = /^[\w-]+\.[\w-]+\.([\w-]+)?$/

/** Reads a token without verifying it, like jsonwebtoken's `decode`. Anyone can make such a token. */
export function decode(token: string, options: DecodeOptions & { complete: true }): Jwt | null
export function decode(token: string, options?: DecodeOptions): JwtPayload | string | null
export function decode(token: unknown, given?: DecodeOptions): Jwt | JwtPayload | string | null {
  const { complete, json } = checkedDecodeOptions(given)
  const jwt = read(typeof token === 'string' ? token : String(token), json)
  return jwt && !complete ? jwt.payload : jwt
}

/** Reads a token with its header, or returns `null` for anything else. */
export function read(text: string, isJson = false): Jwt | null {
  if (!compact.test(text)) return null
  const [head, body, signature] = text.split('.') as [string, string, string]
  const header = parsed(Buffer.from(head, 'base64').toString()) as JwtHeader | undefined
  if (!header) return null
  // An unencoded payload (RFC 7797) is in the token as it is.
  const content = header['b64'] === false ? body : Buffer.from(body, 'base64').toString()
  return { header, payload: payloadOf(content, header, isJson), signature }
}

/** Parses the text of a payload. As in jsonwebtoken, a token of the type JWT must contain JSON. */
function payloadOf(text: string, { typ }: JwtHeader, isJson: boolean): JwtPayload | string {
  let payload: unknown = text
  if (typ === 'JWT' || isJson) payload = JSON.parse(text)
  if (typeof payload === 'string') {
    const value = parsed(payload)
    if (typeof value === 'object' && value !== null) payload = value
  }
  return payload as JwtPayload | string
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
