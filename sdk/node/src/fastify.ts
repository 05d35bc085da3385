import './native.js'

import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'

import { authenticator, type BearerOptions } from './bearer.js'
import type { Verified } from './verified.js'

export type { BearerOptions } from './bearer.js'

const key = Symbol('jeton.auth')

type WithAuth<T> = FastifyRequest & { [key]: Verified<T> | null }

/**
 * Verifies the bearer token of each request (plugin for Fastify 5). It applies to the instance that registers it.
 * Handlers read the token with {@link authOf}. It responds with 401 without a valid token, 403 without a required
 * scope, and 503 if keys cannot be fetched.
 */
export function bearer<T>(options: BearerOptions<T>): FastifyPluginAsync {
  const authenticate = authenticator(options)
  const plugin = async (instance: FastifyInstance): Promise<void> => {
    if (!instance.hasRequestDecorator(key)) instance.decorateRequest(key, null)
    instance.addHook('onRequest', async (request, reply) => {
      const { verified, refusal } = await authenticate(request.raw)
      if (refusal) return reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
      if (verified) (request as WithAuth<T>)[key] = verified
      return
    })
  }
  // The hook applies to the instance that registers the plugin, not to a separate scope.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

/** Returns the verified token of a request that passed {@link bearer} with this type. */
export function authOf<T = Record<string, unknown>>(request: FastifyRequest): Verified<T> {
  const auth = (request as WithAuth<T>)[key]
  if (!auth) throw new Error('the request has no verified token')
  return auth
}
