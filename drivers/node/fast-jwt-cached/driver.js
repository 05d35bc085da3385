// The driver of fast-jwt with its cache of verified tokens. A token that was verified before is
// found by its hash, and its signature is not checked. That is different work than verifying, so it
// is a separate subject. Nothing else of the library is cached, so it offers only `verify`.
import { createVerifier } from 'fast-jwt'

import {
  expiryRequired,
  installedVersion,
  keyPem,
  keyText,
  offer,
  secretBytes,
  serve
} from '../harness/harness.js'

await serve({
  library: 'fast-jwt-cached',
  extras: ['cached'],
  version: installedVersion('fast-jwt', import.meta.url),
  offers: offer({
    format: 'jwt',
    algs: [
      ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
      ...['ES256', 'ES384', 'ES512', 'EdDSA']
    ],
    operations: ['verify'],
    // A verifier that is created for one token has an empty cache.
    key_handling: ['prepared']
  }),
  verify
})

function verify(prepare) {
  const { alg, policy } = prepare
  const requiredClaims = []
  if (expiryRequired(prepare)) requiredClaims.push('exp')
  if (policy.issuer) requiredClaims.push('iss')
  if (policy.audience) requiredClaims.push('aud')
  return createVerifier({
    key: alg.startsWith('HS')
      ? secretBytes(keyText(prepare, 'public').text)
      : keyPem(prepare, 'public'),
    algorithms: [alg],
    cache: true,
    requiredClaims,
    allowedIss: policy.issuer || undefined,
    allowedAud: policy.audience || undefined
  })
}
