// The driver of this repository's library for Node, through its public API. `cargo xtask sdk
// node-library` builds it in sdk/node.
import { readFileSync } from 'node:fs'

import { Issuer, Key, MultiIssuerVerifier, Verifier } from '../../../sdk/node/dist/index.mjs'
import { expiryRequired, keyText, keyTexts, offer, secretBytes, serve, userOptions } from '../harness/harness.js'

const encs = ['A128GCM', 'A192GCM', 'A256GCM', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512']
const claims = ['sign', 'verify', 'round-trip', 'generate-key', 'load-key']
const signatures = ['verify-signature', ...claims]
const encryption = ['encrypt', 'decrypt', 'round-trip', 'generate-key', 'load-key']
/** As in the library for claims that are signed. */
const depthMax = 32

const manifest = new URL('../../../sdk/node/package.json', import.meta.url)

await serve({
  library: 'jeton',
  version: JSON.parse(readFileSync(manifest, 'utf8')).version,
  // Except with a key for `dir`, a JWE does not authenticate its sender: the library has no verified
  // claims for it.
  byDriver: ['jwe:claims'],
  extras: ['cached', 'issuers', 'options'],
  offers: [
    offer({
      format: 'jwt',
      algs: [
        // begin: MACs, written by `cargo xtask sdk algorithms`
        'HS256', 'HS384', 'HS512'
        // end: MACs
      ],
      operations: ordered(signatures),
      key_text: ['jwk']
    }),
    offer({
      format: 'jwt',
      algs: [
        // begin: signatures, written by `cargo xtask sdk algorithms`
        'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'ES256K',
        'EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'
        // end: signatures
      ],
      operations: ordered(signatures),
      key_text: ['jwk', 'pem']
    }),
    offer({
      format: 'jwe',
      algs: [
        // begin: secrets for JWE, written by `cargo xtask sdk algorithms`
        'dir', 'A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW'
        // end: secrets for JWE
      ],
      encs,
      operations: encryption,
      key_text: ['jwk']
    }),
    offer({
      format: 'jwe',
      algs: [
        // begin: key pairs for JWE, written by `cargo xtask sdk algorithms`
        'RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512', 'ECDH-ES', 'ECDH-ES+A128KW',
        'ECDH-ES+A192KW', 'ECDH-ES+A256KW'
        // end: key pairs for JWE
      ],
      encs,
      operations: encryption,
      key_text: ['jwk', 'pem']
    }),
    ...['v3', 'v4'].flatMap(version => [
      offer({
        format: `${version}.local`,
        operations: ['sign', 'verify', 'encrypt', 'decrypt', 'round-trip', 'generate-key', 'load-key'],
        key_text: ['paserk']
      }),
      offer({ format: `${version}.public`, operations: claims, key_text: ['paserk'] })
    ])
  ].flat(),
  sign,
  verify,
  verifySignature,
  encrypt: prepare => (isUnauthenticated(prepare) ? encrypt(prepare) : sign(prepare)),
  decrypt: prepare => (isUnauthenticated(prepare) ? decrypt(prepare) : verify(prepare)),
  generateKey,
  loadKey
})

function isUnauthenticated({ format, alg }) {
  return format === 'jwe' && alg !== 'dir'
}

/** The order of the manifest. */
function ordered(operations) {
  return ['sign', 'verify', 'verify-signature', 'round-trip', 'generate-key', 'load-key'].filter(one => {
    return operations.includes(one)
  })
}

function optionsOf({ format, alg, enc }) {
  if (format.startsWith('v')) return {}
  return { algorithm: alg, ...(alg === 'dir' && { contentEncryption: enc }) }
}

function keyOf(prepare, half) {
  return Key.import(keyText(prepare, half).text, optionsOf(prepare))
}

/**
 * Returns the function that lets `use` have what `make` makes of the key: once for `prepared`. For
 * `parsed-per-call` each call makes it and closes it.
 */
function source(prepare, half, make) {
  const fresh = () => {
    const key = keyOf(prepare, half)
    const made = make(key)
    key.close()
    return made
  }
  const made = fresh()
  if (prepare.key_handling !== 'parsed-per-call') return use => use(made)
  return use => {
    const made = fresh()
    try {
      return use(made)
    } finally {
      made.close()
    }
  }
}

function sign(prepare) {
  const { values } = prepare.claims
  const withExpiry = source(prepare, 'private', key => new Issuer({ key }))
  const withoutExpiry = source(prepare, 'private', key => new Issuer({ key, withoutExpiry: true }))
  const issuers = values.map(value => (value.exp === undefined ? withoutExpiry : withExpiry))
  if (prepare.key_handling !== 'parsed-per-call') {
    const made = issuers.map(use => use(issuer => issuer))
    return index => made[index].issue(values[index])
  }
  return index => issuers[index](issuer => issuer.issue(values[index]))
}

function verify(prepare) {
  if (prepare.options) return verifyWithOptions(prepare)
  if (prepare.issuers) return verifyIssuers(prepare)
  const { issuer, audience } = prepare.policy
  const options = {
    ...(issuer ? { issuer } : { anyIssuer: true }),
    ...(audience ? { audience } : { anyAudience: true }),
    ...(expiryRequired(prepare) ? {} : { withoutExpiry: true }),
    ...(prepare.cached && { cache: 64 })
  }
  const use = source(prepare, 'public', keys => new Verifier({ keys, ...options }))
  if (prepare.key_handling !== 'parsed-per-call') {
    const verifier = use(made => made)
    return token => verifier.verify(token).claims
  }
  return token => use(verifier => verifier.verify(token).claims)
}

/** The library's layer with the interface of jsonwebtoken. */
async function verifyWithOptions(prepare) {
  const { default: jwt } = await import('../../../sdk/node/dist/compat/jsonwebtoken.mjs')
  const secret = secretBytes(keyText(prepare, 'public').text)
  const options = userOptions(prepare.options)
  return token => jwt.verify(token, secret, options)
}

function verifyIssuers(prepare) {
  const issuers = prepare.issuers.map(({ keys, policy: { issuer, audience } }) => {
    return { issuer, audience, keys: keyOf({ ...prepare, keys }, 'public') }
  })
  const verifier = new MultiIssuerVerifier(issuers)
  return token => verifier.verify(token).claims
}

function verifySignature(prepare) {
  const use = source(prepare, 'public', keys => new Verifier({ keys, format: 'jws' }))
  return token => use(verifier => verifier.verifyBytes(token))
}

function encrypt(prepare) {
  const { enc: contentEncryption, claims } = prepare
  const use = source(prepare, 'public', encryption => {
    return new Issuer({ encryption, contentEncryption, type: 'JWT' })
  })
  return index => use(issuer => issuer.issueBytes(JSON.stringify(claims.values[index])))
}

function decrypt(prepare) {
  const { enc: contentEncryption } = prepare
  const use = source(prepare, 'private', decryption => new Verifier({ decryption, contentEncryption }))
  return token => {
    const text = use(verifier => verifier.verifyBytes(token)).toString()
    // `JSON.parse` has no limit. This counts brackets in texts too, which is safe.
    if ((text.match(/[[{]/g) ?? []).length > depthMax) throw new Error('the claims are nested too deep')
    const claims = JSON.parse(text)
    checkClaims(prepare, claims)
    return claims
  }
}

function checkClaims(prepare, { exp, nbf, iss, aud }) {
  const { issuer, audience } = prepare.policy
  const now = Date.now() / 1000
  const is = (value, test) => (value === undefined ? true : typeof value === 'number' && test(value))
  if (exp === undefined && expiryRequired(prepare)) throw new Error('exp is missing')
  if (!is(exp, value => now < value)) throw new Error('expired')
  if (!is(nbf, value => now >= value)) throw new Error('not valid yet')
  if (issuer && iss !== issuer) throw new Error('another issuer')
  if (audience && !(Array.isArray(aud) ? aud : [aud]).includes(audience)) throw new Error('another audience')
}

function generateKey({ format, alg, enc }) {
  const name = format.startsWith('v') ? format : alg
  const options = alg === 'dir' ? { contentEncryption: enc } : {}
  return () => Key.generate(name, options)
}

function loadKey(prepare) {
  const texts = keyTexts(prepare)
  return () => texts.map(({ text }) => Key.import(text, optionsOf(prepare)))
}
