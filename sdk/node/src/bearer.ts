// The shared part of the middleware for both frameworks (RFC 6750).
import { JetonError, invalid } from './errors.js'
import { forBearer, settings } from './options.js'
import type { Verified } from './verified.js'
import { Verifier } from './verifier.js'

/** Options of the middleware. */
export interface BearerOptions<T> {
  /** Verifies the tokens. */
  verifier: Verifier<T>
  /** The scopes that a token must have. All of them are required. */
  scopes?: readonly string[]
  /** The realm of the challenge. */
  realm?: string
  /** Lets requests without a token pass. A token that is present must be valid. */
  optional?: boolean
}

/** The response of the middleware when the handler must not run. */
export interface Refusal {
  status: 401 | 403 | 503
  /** The header `WWW-Authenticate`. */
  challenge: string | undefined
  body: { error: string; code?: string }
}

/** Checks the options once. If a misspelled option were ignored, tokens without the scope would pass. */
export function checkedOptions<T>(options: BearerOptions<T>): BearerOptions<T> {
  settings(options, forBearer)
  if (!(options.verifier instanceof Verifier)) throw invalid('option `verifier`: not a Verifier')
  return { ...options }
}

/** A request of Node's HTTP server. */
export interface RawRequest {
  headers: { authorization?: string | undefined }
  rawHeaders?: readonly string[]
}

/** Returns the header `Authorization`. Of several ones, Node keeps the first, and another program may read another. */
function authorizationOf({ headers, rawHeaders = [] }: RawRequest): string | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  const count = names.filter(name => name.toLowerCase() === 'authorization').length
  return count > 1 ? '' : headers.authorization
}

/** Returns the verified token, a refusal, or neither if the token is optional and missing. */
export async function authenticate<T>(
  request: RawRequest,
  options: BearerOptions<T>
): Promise<{ verified?: Verified<T>; refusal?: Refusal }> {
  const header = authorizationOf(request)
  const token = /^Bearer +([^ ]+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) {
    if (header === undefined && options.optional) return {}
    return { refusal: refusal(401, options, header === undefined ? undefined : 'invalid_request') }
  }
  let verified: Verified<T>
  try {
    verified = await options.verifier.verifyAsync(token)
  } catch (error) {
    if (!(error instanceof JetonError)) throw error
    if (error.isRejection) return { refusal: refusal(401, options, 'invalid_token', error.code) }
    // A key error here means that the fetched keys are unusable.
    if (unavailable.test(error.code)) {
      const body = { error: 'temporarily_unavailable', code: error.code }
      return { refusal: { status: 503, challenge: undefined, body } }
    }
    throw error
  }
  const { scopes = [] } = options
  if (!scopes.every(scope => verified.hasScope(scope))) {
    return { refusal: refusal(403, options, 'insufficient_scope') }
  }
  return { verified }
}

const unavailable = /^(KEY|DISCOVERY)_/

function refusal<T>(
  status: 401 | 403,
  { realm, scopes }: BearerOptions<T>,
  error?: string,
  code?: string
): Refusal {
  const parts: string[] = []
  if (realm !== undefined) parts.push(`realm="${quoted(realm)}"`)
  if (error !== undefined) parts.push(`error="${error}"`)
  if (error === 'insufficient_scope') parts.push(`scope="${quoted((scopes ?? []).join(' '))}"`)
  const challenge = ['Bearer', parts.join(', ')].join(' ').trim()
  const body = { error: error ?? 'unauthorized', ...(code === undefined ? {} : { code }) }
  return { status, challenge, body }
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&').replace(/[^\x20-\x7e]/g, '?')
}
