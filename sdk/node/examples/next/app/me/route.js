// A route handler of Next.js. `next.config.mjs` makes jeton external.
import { RemoteKeySet, Verifier } from 'jeton'
import { authenticator } from 'jeton/bearer'

const issuer = process.env.ISSUER ?? 'https://id.example'
const verifier = new Verifier({ keys: new RemoteKeySet({ issuer }), issuer, audience: 'api' })
const authenticate = authenticator({ verifier, scopes: ['read'] })

export async function GET(request) {
  const { verified, refusal } = await authenticate(request)
  if (refusal) return Response.json(refusal.body, refusal)
  return Response.json({ subject: verified.subject })
}
