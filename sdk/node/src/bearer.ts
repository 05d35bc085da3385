// The shared part of the middleware for all frameworks.
import './native.js'

import { JetonError, invalid } from './errors.js'
import { forBearer, settings } from './options.js'
import { MultiIssuerVerifier } from './multi-issuer-verifier.js'
import type { Verified } from './verified.js'
import { Verifier } from './verifier.js'

/** Options of the middleware. */
export interface BearerOptions<T> {
  /** Verifies the tokens. */
  verifier: Verifier<T> | MultiIssuerVerifier<T>
  /** The scopes that a token must have. All of them are required. */
  scopes?: readonly string[]
  /** The realm of the challenge. */
  realm?: string
  /** Lets requests without a token pass. A token that is present must be valid. */
  optional?: boolean
}

/** The response to a request whose handler must not run. */
export interface Refusal {
  /** 401 without a valid token, 403 without a required scope, and 503 if keys cannot be fetched. */
  status: 401 | 403 | 503
  /** `WWW-Authenticate`, except with 503. */
  headers: Record<string, string>
  /** The body, JSON. */
  body: { error: string; code?: string }
}

/** The result for a request. Both are undefined if the token is optional and missing. */
export interface Authentication<T> {
  verified: Verified<T> | undefined
  refusal: Refusal | undefined
}

/** A request of Node's HTTP server, or a `Request` of the Fetch API. */
export type BearerRequest = RawRequest | { headers: { get(name: string): string | null } }

/**
 * Returns a function that verifies the bearer token of a request (RFC 6750), for frameworks without a middleware here. An
 * error that is not about the token or the keys is thrown.
 */
export function authenticator<T>(options: BearerOptions<T>): (request: BearerRequest) => Promise<Authentication<T>> {
  const checked = checkedOptions(options)
  return request => authenticate(request, checked)
}

/** Checks the options once. If a misspelled option were ignored, tokens without the scope would pass. */
function checkedOptions<T>(options: BearerOptions<T>): BearerOptions<T> {
  settings(options, forBearer)
  const { verifier } = options
  if (!(verifier instanceof Verifier || verifier instanceof MultiIssuerVerifier)) {
    throw invalid('option `verifier`: not a Verifier or a MultiIssuerVerifier')
  }
  return { ...options }
}

/** A request of Node's HTTP server. */
export interface RawRequest {
  headers: { authorization?: string | undefined }
  rawHeaders?: readonly string[]
}

/** Returns the header `Authorization`. Of several ones, Node keeps the first, and another program may read another. */
function authorizationOf(request: BearerRequest): string | undefined {
  // Several ones are joined.
  if (isFetch(request)) return request.headers.get('authorization') ?? undefined
  const { headers, rawHeaders = [] } = request
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  const count = names.filter(name => name.toLowerCase() === 'authorization').length
  return count > 1 ? '' : headers.authorization
}

function isFetch(request: BearerRequest): request is Exclude<BearerRequest, RawRequest> {
  return typeof (request.headers as { get?: unknown }).get === 'function'
}

async function authenticate<T>(request: BearerRequest, options: BearerOptions<T>): Promise<Authentication<T>> {
  const header = authorizationOf(request)
  const token = /^Bearer +([^ ]+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) {
    if (header === undefined && options.optional) return { verified: undefined, refusal: undefined }
    return refused(401, options, header === undefined ? undefined : 'invalid_request')
  }
  let verified: Verified<T>
  try {
    verified = await options.verifier.verifyAsync(token)
  } catch (error) {
    if (!(error instanceof JetonError)) throw error
    if (error.isRejection) return refused(401, options, 'invalid_token', error.code)
    // A key error here means that the fetched keys are unusable.
    if (unavailable.test(error.code)) {
      const body = { error: 'temporarily_unavailable', code: error.code }
      return { verified: undefined, refusal: { status: 503, headers: {}, body } }
    }
    throw error
  }
  const { scopes = [] } = options
  if (!scopes.every(scope => verified.hasScope(scope))) {
    return refused(403, options, 'insufficient_scope')
  }
  return { verified, refusal: undefined }
}

const unavailable = /^(KEY|DISCOVERY)_/

function refused<T>(
  status: 401 | 403,
  { realm, scopes }: BearerOptions<T>,
  error?: string,
  code?: string
): Authentication<T> {
  const parts: string[] = []
  if (realm !== undefined) parts.push(`realm="${quoted(realm)}"`)
  if (error !== undefined) parts.push(`error="${error}"`)
  if (error === 'insufficient_scope') parts.push(`scope="${quoted((scopes ?? []).join(' '))}"`)
  const challenge = ['Bearer', parts.join(', ')].join(' ').trim()
  const body = { error: error ?? 'unauthorized', ...(code === undefined ? {} : { code }) }
  return { verified: undefined, refusal: { status, headers: { 'WWW-Authenticate': challenge }, body } }
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&').replace(/[^\x20-\x7e]/g, '?')
}
