// The driver of fast-jwt without its cache of verified tokens. The verifier is created once with
// every check that the library has. It skips checks of absent claims, so the claims are required
// too.
import { isDeepStrictEqual } from 'node:util'

import { createDecoder, createSigner, createVerifier } from 'fast-jwt'

import {
  Unsupported,
  defaults,
  expiryRequired,
  installedVersion,
  keyPem,
  keyText,
  keyTexts,
  keyed,
  offer,
  secretBytes,
  serve
} from '../harness/harness.js'

await serve({
  library: 'fast-jwt',
  knowsDefaults: true,
  version: installedVersion('fast-jwt', import.meta.url),
  // No verify-signature: the verifier decodes the claims before it checks the signature. The
  // library generates no keys.
  offers: [
    offer({
      format: 'jwt',
      algs: ['HS256', 'HS384', 'HS512'],
      operations: ['sign', 'verify', 'round-trip']
    }),
    offer({
      format: 'jwt',
      algs: [
        ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
        ...['ES256', 'ES384', 'ES512', 'EdDSA']
      ],
      operations: ['sign', 'verify', 'round-trip', 'load-key'],
      key_text: ['pem']
    })
  ].flat(),
  sign,
  verify,
  loadKey
})

function sign(prepare) {
  const { alg: algorithm, claims } = prepare
  const key = keySource(prepare, 'private')

  // The library adds `iat` by itself, and `noTimestamp` removes a given one. So each value needs
  // the option that fits it.
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
  const { alg, policy } = prepare
  const key = keySource(prepare, 'public')
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
  const chosen = defaults(prepare) ? {} : options
  const verifier = keyed(prepare, () => createVerifier({ ...chosen, key: key() }))
  return token => verifier()(token)
}

/** Loads a key by creating a signer or a verifier with it. */
function loadKey(prepare) {
  const { alg } = prepare
  const texts = keyTexts(prepare)
  return () => {
    return texts.map(({ text, half }) =>
      half === 'private'
        ? createSigner({ key: text, algorithm: alg })
        : createVerifier({ key: text, algorithms: [alg] })
    )
  }
}

/**
 * Returns the function that makes what the library reads of the key: PEM, or the bytes of a
 * symmetric key. The library parses PEM itself, so only a symmetric key is decoded in each call for
 * `parsed-per-call`.
 */
function keySource(prepare, half) {
  if (prepare.alg.startsWith('HS')) {
    // Never as text: the library would take a PEM text for a symmetric key.
    const { text } = keyText(prepare, half)
    return () => secretBytes(text)
  }
  const pem = keyPem(prepare, half)
  return () => pem
}
