// The driver of jose. Its API is asynchronous, and Web Crypto does most of the work on libuv's
// threads. The timing is how long a caller waits for one token, awaited before the next call. It
// does not show how many tokens can be in progress at once.
import {
  Invalid,
  defaults,
  expiryRequired,
  installedVersion,
  keyText,
  keyTexts,
  keyed,
  offer,
  secretBytes,
  serve
} from '../harness/harness.js'
import * as jose from 'jose'

const macs = ['HS256', 'HS384', 'HS512']
const signatures = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
]
const wraps = ['A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW']
const passwords = ['PBES2-HS256+A128KW', 'PBES2-HS384+A192KW', 'PBES2-HS512+A256KW']
const transports = [
  ...['RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512'],
  ...['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW']
]
const encs = [
  ...['A128GCM', 'A192GCM', 'A256GCM'],
  ...['A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512']
]

const signing = ['sign', 'verify', 'verify-signature', 'round-trip', 'generate-key', 'load-key']
const encrypting = ['encrypt', 'decrypt', 'round-trip', 'generate-key', 'load-key']
// The library generates no passwords.
const withPassword = ['encrypt', 'decrypt', 'round-trip', 'load-key']

await serve({
  library: 'jose',
  extras: ['issuers'],
  byDriver: ['jwt:issuers-other-audience'],
  knowsDefaults: true,
  version: installedVersion('jose', import.meta.url),
  offers: [
    offer({ format: 'jwt', algs: macs, operations: signing, key_text: ['jwk'] }),
    offer({ format: 'jwt', algs: signatures, operations: signing, key_text: ['jwk', 'pem'] }),
    offer({
      format: 'jwe',
      algs: ['dir', ...wraps],
      encs,
      operations: encrypting,
      key_text: ['jwk']
    }),
    offer({ format: 'jwe', algs: passwords, encs, operations: withPassword, key_text: ['jwk'] }),
    offer({
      format: 'jwe',
      algs: transports,
      encs,
      operations: encrypting,
      key_text: ['jwk', 'pem']
    })
  ].flat(),
  sign,
  verify,
  verifySignature,
  encrypt,
  decrypt,
  generateKey,
  loadKey
})

async function sign(prepare) {
  const { alg, claims } = prepare
  const key = await keyFor(prepare, 'private', 'sign')
  // With the `typ` that the other libraries write, so that all tokens have the same length.
  const header = { alg, typ: 'JWT' }
  return async index => {
    return new jose.SignJWT(claims.values[index]).setProtectedHeader(header).sign(await key())
  }
}

async function verify(prepare) {
  if (prepare.issuers) return verifyIssuers(prepare)
  const key = await keyFor(prepare, 'public', 'verify')
  const options = defaults(prepare) ? {} : { algorithms: [prepare.alg], ...claimChecks(prepare) }
  return async token => (await jose.jwtVerify(token, await key(), options)).payload
}

/** One key set and a list of issuers, which the library has; it does not bind a key to an issuer. */
function verifyIssuers({ alg, issuers, ...prepare }) {
  const keys = jose.createLocalJWKSet({ keys: issuers.map(({ keys }) => keys.public) })
  const all = name => [...new Set(issuers.map(({ policy }) => policy[name]))]
  const options = { ...claimChecks(prepare), algorithms: [alg], issuer: all('issuer'), audience: all('audience') }
  return async token => (await jose.jwtVerify(token, keys, options)).payload
}

async function verifySignature(prepare) {
  const key = await keyFor(prepare, 'public', 'verify')
  const options = { algorithms: [prepare.alg] }
  return async token => jose.compactVerify(token, await key(), options)
}

async function encrypt(prepare) {
  const { alg, enc, claims } = prepare
  const key = await keyFor(prepare, 'public', 'encrypt')
  const header = { alg, enc, typ: 'JWT' }
  return async index => {
    return new jose.EncryptJWT(claims.values[index]).setProtectedHeader(header).encrypt(await key())
  }
}

async function decrypt(prepare) {
  const { alg, enc } = prepare
  const key = await keyFor(prepare, 'private', 'decrypt')
  const pinned = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] }
  const options = defaults(prepare) ? {} : { ...pinned, ...claimChecks(prepare) }
  return async token => (await jose.jwtDecrypt(token, await key(), options)).payload
}

function claimChecks(prepare) {
  const { issuer, audience } = prepare.policy
  return {
    issuer: issuer || undefined,
    audience: audience || undefined,
    requiredClaims: expiryRequired(prepare) ? ['exp'] : []
  }
}

function generateKey({ alg, enc }) {
  if (alg === 'dir') return () => jose.generateSecret(enc)
  if (macs.includes(alg) || wraps.includes(alg)) return () => jose.generateSecret(alg)
  return () => jose.generateKeyPair(alg)
}

function loadKey(prepare) {
  const texts = keyTexts(prepare)
  return async () => {
    const keys = []
    for (const { form, text, half } of texts) keys.push(await load(form, text, half, prepare.alg))
    return keys
  }
}

async function keyFor(prepare, half, use) {
  const { form, text } = keyText(prepare, half)
  let key
  if (prepare.key_handling === 'prepared' && isSecret(prepare.alg)) {
    // The library imports the bytes of a symmetric key again for each token. Its users can import
    // it once.
    const secret = await prepared(secretBytes(text), prepare, use)
    key = () => secret
  } else {
    key = keyed(prepare, () => load(form, text, half, prepare.alg))
  }
  await key() // fails now if the key cannot be loaded
  return key
}

function load(form, text, half, alg) {
  if (form === 'jwk') return jose.importJWK(JSON.parse(text), alg)
  if (form !== 'pem') throw new Invalid(`a ${form} is no key for this`)
  return half === 'private' ? jose.importPKCS8(text, alg) : jose.importSPKI(text, alg)
}

function isSecret(alg) {
  return alg === 'dir' || [...macs, ...wraps, ...passwords].includes(alg)
}

function prepared(bytes, { alg, enc }, use) {
  // The import rejects an empty key.
  const as = (algorithm, ...uses) => crypto.subtle.importKey('raw', bytes, algorithm, false, uses)
  if (macs.includes(alg)) return as({ name: 'HMAC', hash: `SHA-${alg.slice(2)}` }, use)
  if (passwords.includes(alg)) return as('PBKDF2', 'deriveBits')
  if (alg.endsWith('GCMKW')) return as('AES-GCM', use)
  if (alg !== 'dir') return as('AES-KW', use === 'encrypt' ? 'wrapKey' : 'unwrapKey')
  // The library splits the key of a CBC encryption itself.
  return enc.endsWith('GCM') ? as('AES-GCM', use) : bytes
}
