// The driver of jsonwebtoken, with its synchronous calls. The library has no key loading of its
// own. It takes Node's key objects, which is `prepared` here, or text that Node parses in each
// call.
import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'

import jwt from 'jsonwebtoken'

import {
  Unsupported,
  defaults,
  expiryRequired,
  installedVersion,
  keyPem,
  keyText,
  keyed,
  offer,
  secretBytes,
  serve,
  userOptions
} from '../harness/harness.js'

await serve({
  library: 'jsonwebtoken',
  knowsDefaults: true,
  byDriver: ['jwt:exp'],
  extras: ['options'],
  version: installedVersion('jsonwebtoken', import.meta.url),
  // No verify-signature, no key generation, and no EdDSA.
  offers: offer({
    format: 'jwt',
    algs: [
      ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
      ...['ES256', 'ES384', 'ES512']
    ],
    operations: ['sign', 'verify', 'round-trip']
  }),
  sign,
  verify
})

function sign(prepare) {
  const { alg: algorithm, claims } = prepare
  const key = keyFor(prepare, 'private', createPrivateKey)
  // The library adds `iat` by itself, and `noTimestamp` removes a given one.
  const options = claims.values.map(({ iat }) => ({ algorithm, noTimestamp: iat === undefined }))
  if (claims.values.some(({ iat }) => iat === 0)) {
    throw new Unsupported('jsonwebtoken replaces an `iat` of 0 with the current time')
  }
  return index => jwt.sign(claims.values[index], key(), options[index])
}

function verify(prepare) {
  const { issuer, audience } = prepare.policy
  const key = keyFor(prepare, 'public', createPublicKey)
  if (prepare.options) {
    const options = userOptions(prepare.options)
    return token => jwt.verify(token, key(), options)
  }
  const options = {
    algorithms: defaults(prepare) ? undefined : [prepare.alg],
    issuer: issuer || undefined,
    audience: audience || undefined
  }
  if (!expiryRequired(prepare)) return token => jwt.verify(token, key(), options)
  return token => {
    const claims = jwt.verify(token, key(), options)
    if (claims.exp === undefined) throw new Error('the claim exp is missing')
    return claims
  }
}

function keyFor(prepare, half, create) {
  if (prepare.alg.startsWith('HS')) {
    const { text } = keyText(prepare, half)
    const isPrepared = prepare.key_handling === 'prepared'
    return keyed(prepare, () => {
      const secret = secretBytes(text)
      return isPrepared ? createSecretKey(secret) : secret
    })
  }
  const pem = keyPem(prepare, half)
  return keyed(prepare, () => (prepare.key_handling === 'prepared' ? create(pem) : pem))
}
