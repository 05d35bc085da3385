// The driver of fast-jwt with its cache of verified tokens off. The verifier is made once with every
// check the library has; since it skips the checks of claims that are absent, they are required too.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import { createDecoder, createSigner, createVerifier } from 'fast-jwt'

import {
  Invalid,
  Unsupported,
  expiryRequired,
  installedVersion,
  jwtOffers,
  keyed,
  serve
} from '../harness/harness.js'

await serve({
  library: 'fast-jwt',
  version: installedVersion('fast-jwt', import.meta.url),
  // No verify-signature: the verifier decodes the claims before it looks at the signature.
  offers: jwtOffers(
    ['sign', 'verify'],
    ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    ...['ES256', 'ES384', 'ES512', 'EdDSA']
  ),
  sign,
  verify
})

function sign(prepare) {
  const { alg: algorithm, claims } = prepare
  const key = keyText(algorithm, prepare.keys.private, createPrivateKey)

  // The library adds `iat` by itself, and with `noTimestamp` takes away a given one. So it is told
  // for each value whether there is one.
  const signer = noTimestamp => {
    return keyed(prepare, () => createSigner({ key: key(), algorithm, noTimestamp }))
  }
  const withTime = signer(false)
  const withoutTime = signer(true)
  const signers = claims.values.map(value => (value.iat === undefined ? withoutTime : withTime))

  const decode = createDecoder()
  claims.values.forEach((value, index) => {
    if (!isDeepStrictEqual(decode(signers[index]()(value)), value)) {
      throw new Unsupported(`fast-jwt changes the claims of value ${index} when it signs them`)
    }
  })
  return index => signers[index]()(claims.values[index])
}

function verify(prepare) {
  const { alg, keys, policy } = prepare
  const key = keyText(alg, alg.startsWith('HS') ? keys.private : keys.public, createPublicKey)
  const requiredClaims = []
  if (expiryRequired(prepare)) requiredClaims.push('exp')
  if (policy.issuer) requiredClaims.push('iss')
  if (policy.audience) requiredClaims.push('aud')
  const options = {
    algorithms: [alg],
    cache: false,
    requiredClaims,
    allowedIss: policy.issuer || undefined,
    allowedAud: policy.audience || undefined
  }
  const verifier = keyed(prepare, () => createVerifier({ ...options, key: key() }))
  return token => verifier()(token)
}

/**
 * Gives the function that makes the text of the key which the library reads: PEM, or the bytes of a
 * secret. Only the latter has to be decoded in each call when keys are parsed there, since the
 * library itself parses PEM.
 */
function keyText(alg, jwk, create) {
  if (alg.startsWith('HS')) {
    // Checked here, because the library would take a PEM text for a secret.
    if (jwk?.kty !== 'oct' || typeof jwk.k !== 'string') throw new Invalid('the secret is missing')
    return () => Buffer.from(jwk.k, 'base64url')
  }
  if (!jwk) throw new Invalid('the key is missing')
  let key
  try {
    key = create({ key: jwk, format: 'jwk' })
  } catch {
    throw new Invalid('the key is not a JWK')
  }
  const pem = key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' })
  return () => pem
}
