import './native.js'

import type { NextFunction, Request, RequestHandler, Response } from 'express'

import { authenticator, type Authentication, type BearerOptions } from './bearer.js'
import type { Verified } from './verified.js'

export type { BearerOptions } from './bearer.js'

/** A request that passed the middleware. */
export interface AuthenticatedRequest<T = Record<string, unknown>> extends Request {
  /** The verified token. It is absent only with the option `optional`. */
  auth: Verified<T>
}

/**
 * Verifies the bearer token of each request (middleware for Express 4 and 5). Handlers read it with {@link authOf}. It
 * responds with 401 without a valid token, 403 without a required scope, and 503 if keys cannot be fetched. Any other
 * error goes to `next`.
 */
export function bearer<T>(options: BearerOptions<T>): RequestHandler {
  const authenticate = authenticator(options)
  return async (request: Request, response: Response, next: NextFunction) => {
    let found: Authentication<T>
    try {
      found = await authenticate(request)
    } catch (error) {
      // Express 4 does not wait for a promise.
      next(error)
      return
    }
    const { verified, refusal } = found
    if (refusal) {
      response.status(refusal.status).set(refusal.headers).json(refusal.body)
      return
    }
    if (verified) (request as AuthenticatedRequest<T>).auth = verified
    next()
  }
}

/** Returns the verified token of a request that passed {@link bearer} with this type. */
export function authOf<T = Record<string, unknown>>(request: Request): Verified<T> {
  const { auth } = request as AuthenticatedRequest<T>
  if (auth === undefined) throw new Error('the request has no verified token')
  return auth
}
