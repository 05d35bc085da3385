import type { NextFunction, Request, RequestHandler, Response } from 'express'

import { authenticate, checkedOptions, type BearerOptions } from './bearer.js'
import type { Verified } from './verified.js'

export type { BearerOptions } from './bearer.js'

/** A request that passed the middleware. */
export interface AuthenticatedRequest<T = Record<string, unknown>> extends Request {
  /** The verified token. It is absent only with the option `optional`. */
  auth: Verified<T>
}

/**
 * Verifies the bearer token of each request (middleware for Express 5). Handlers read it with {@link authOf}. It
 * responds with 401 without a valid token, 403 without a required scope, and 503 if keys cannot be fetched.
 */
export function bearer<T>(options: BearerOptions<T>): RequestHandler {
  const checked = checkedOptions(options)
  return async (request: Request, response: Response, next: NextFunction) => {
    const { verified, refusal } = await authenticate(request, checked)
    if (!refusal) {
      if (verified) (request as AuthenticatedRequest<T>).auth = verified
      next()
      return
    }
    if (refusal.challenge !== undefined) response.set('WWW-Authenticate', refusal.challenge)
    response.status(refusal.status).json(refusal.body)
  }
}

/** Returns the verified token of a request that passed {@link bearer} with this type. */
export function authOf<T = Record<string, unknown>>(request: Request): Verified<T> {
  const { auth } = request as AuthenticatedRequest<T>
  if (auth === undefined) throw new Error('the request has no verified token')
  return auth
}
