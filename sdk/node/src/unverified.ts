import { checked } from './errors.js'
import { native } from './native.js'

/** What a token says. Nothing of it is verified: anyone can write such a token. */
export interface UnverifiedToken {
  /** The format. */
  readonly format: 'jwt' | 'jwe' | 'paseto'
  /** The protected header. A PASETO has none. */
  readonly header: Readonly<Record<string, unknown>> | null
  /** The claims, unless they are encrypted. Large numbers are rounded. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** The footer of a PASETO. */
  readonly footer: string | null
}

/**
 * Reads a compact token without verifying it, for example to select its verifier or for a log. Never decide with it
 * whether a request is allowed.
 */
export function readUnverified(token: string): UnverifiedToken {
  return JSON.parse(checked(native.unverified(token))) as UnverifiedToken
}
