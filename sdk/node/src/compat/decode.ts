import { checkedDecodeOptions } from './options.js'
import type { DecodeOptions, Jwt, JwtHeader, JwtPayload } from './types.js'

const compact = /^[\w-]+\.[\w-]+\.([\w-]+)?$/

/** Reads a token without verifying it, like jsonwebtoken's `decode`. Anyone can make such a token. */
export function decode(token: string, options: DecodeOptions & { complete: true }): Jwt | null
export function decode(token: string, options?: DecodeOptions): JwtPayload | string | null
export function decode(token: unknown, given?: DecodeOptions): Jwt | JwtPayload | string | null {
  const { complete, json } = checkedDecodeOptions(given)
  const jwt = read(typeof token === 'string' ? token : String(token), json)?.jwt ?? null
  return jwt && !complete ? jwt.payload : jwt
}

/** A token as its sender wrote it. Nothing of it is verified. */
export interface Read {
  token: string
  jwt: Jwt
  /** The payload as bytes, and as text. */
  content: Buffer
  text: string
}

/** Reads a token with its header, or returns `null` for anything else. */
export function read(token: string, isJson = false): Read | null {
  if (!compact.test(token)) return null
  const [head, body, signature] = token.split('.') as [string, string, string]
  const header = parsed(headerText(head)) as JwtHeader | undefined
  if (!header) return null
  // An unencoded payload (RFC 7797) is in the token as it is.
  const content = Buffer.from(body, header['b64'] === false ? 'utf8' : 'base64')
  const text = content.toString()
  return { token, jwt: { header, payload: payloadOf(text, header, isJson), signature }, content, text }
}

/** The last header, which the tokens of an issuer share: as in the token, and decoded. */
let lastHeader = { encoded: '', text: '' }

function headerText(encoded: string): string {
  if (encoded === lastHeader.encoded) return lastHeader.text
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString()
  // Encoded again: a part of the token would keep the whole token in memory.
  if (bytes.length <= 512) lastHeader = { encoded: bytes.toString('base64url'), text }
  return text
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
