// The driver of @node-rs/jsonwebtoken, with its synchronous calls. Its keys are PEM text or the bytes
// of a secret, which it parses in each call; there is no way to parse a key once.
import { signSync, verifySync } from '@node-rs/jsonwebtoken'

import {
  defaults,
  expiryRequired,
  installedVersion,
  keyPem,
  keyText,
  keyed,
  offer,
  secretBytes,
  serve
} from '../harness/harness.js'

await serve({
  library: 'node-rs-jsonwebtoken',
  knowsDefaults: true,
  version: installedVersion('@node-rs/jsonwebtoken', import.meta.url),
  // No verify-signature, and no key generation.
  offers: offer({
    format: 'jwt',
    algs: [
      ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
      ...['ES256', 'ES384', 'EdDSA']
    ],
    operations: ['sign', 'verify', 'round-trip']
  }),
  sign,
  verify
})

function sign(prepare) {
  const { alg: algorithm, claims } = prepare
  const key = keyFor(prepare, 'private')
  const header = { algorithm }
  return index => signSync(claims.values[index], key(), header)
}

function verify(prepare) {
  const { alg, policy } = prepare
  const key = keyFor(prepare, 'public')
  // The library rejects a token with an audience if it is given none.
  const options = { algorithms: [alg], aud: policy.audience ? [policy.audience] : undefined }
  if (!defaults(prepare)) {
    const requiredSpecClaims = []
    if (expiryRequired(prepare)) requiredSpecClaims.push('exp')
    if (policy.issuer) requiredSpecClaims.push('iss')
    if (policy.audience) requiredSpecClaims.push('aud')
    const iss = policy.issuer ? [policy.issuer] : undefined
    Object.assign(options, { iss, requiredSpecClaims, leeway: 0, validateNbf: true })
  }
  return token => verifySync(token, key(), options)
}

function keyFor(prepare, half) {
  if (prepare.alg.startsWith('HS')) {
    const { text } = keyText(prepare, half)
    return keyed(prepare, () => secretBytes(text))
  }
  const pem = keyPem(prepare, half)
  return () => pem
}
