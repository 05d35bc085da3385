// Hono: `ISSUER=https://id.example PORT=3000 node hono.js`
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { RemoteKeySet, Verifier, type Verified } from 'jeton'
import { authenticator } from 'jeton/bearer'

const issuer = process.env['ISSUER'] ?? 'https://id.example'
const verifier = new Verifier({ keys: new RemoteKeySet({ issuer }), issuer, audience: 'api' })
const authenticate = authenticator({ verifier, scopes: ['read'] })

const bearer = createMiddleware<{ Variables: { auth: Verified } }>(async (context, next) => {
  const { verified, refusal } = await authenticate(context.req.raw)
  if (refusal) return Response.json(refusal.body, refusal)
  context.set('auth', verified!)
  return next()
})

const app = new Hono()
app.get('/me', bearer, context => context.json({ subject: context.get('auth').subject }))
serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000) })
