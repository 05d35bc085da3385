// Makes tokens.json: keys and tokens for the tests of the Node and Python drivers. It uses Node's
// own cryptography and none of the libraries that the drivers wrap. Each row has tokens that must
// be accepted and tokens that must be rejected. Run it again only to add rows:
//
//     node drivers/testdata/make.mjs
//
// v2.local and v4.local need ciphers that Node lacks. Their rows have a token of the official test
// vectors (vectors/paseto), which expired in 2022. A driver that rejects it as expired has
// decrypted it.
import { readFileSync, writeFileSync } from 'node:fs'
import * as c from 'node:crypto'

const claims = [0, 1].map(n => ({
  iss: 'https://issuer.example',
  sub: 'user-1234567890',
  aud: ['api'],
  exp: 4102444800,
  iat: 1700000000,
  jti: `7f3a91c04be2d6a${n}`,
  name: 'John Doe',
  admin: true
}))
const pasetoClaims = claims.map(value => ({
  ...value,
  aud: 'api',
  exp: '2100-01-01T00:00:00Z',
  iat: '2023-11-14T22:13:20Z'
}))
const policy = { issuer: 'https://issuer.example', audience: 'api' }

const b64 = bytes => Buffer.from(bytes).toString('base64url')
const json = value => b64(JSON.stringify(value))

function invalidVariants(value, times) {
  const aud = Array.isArray(value.aud) ? ['elsewhere'] : 'elsewhere'
  return [
    ['an expired token', { ...value, exp: times.past, iat: times.before }],
    ['a token that is not valid yet', { ...value, nbf: times.future }],
    ['a token of another issuer', { ...value, iss: 'https://impostor.example' }],
    ['a token for another audience', { ...value, aud }]
  ]
}
const seconds = { before: 1600000000, past: 1600003600, future: 4102444000 }
const texts = {
  before: '2020-09-13T12:26:40Z',
  past: '2020-09-13T13:26:40Z',
  future: '2099-12-31T23:46:40Z'
}

/** Flips one bit in the middle of the part, or at the position that `at` returns. */
function flipped(token, part, at = bytes => bytes.length >> 1) {
  const parts = token.split('.')
  const bytes = Buffer.from(parts[part], 'base64url')
  bytes[at(bytes)] ^= 1
  parts[part] = b64(bytes)
  return parts.join('.')
}
const inType = bytes => bytes.indexOf('JWT') + 2

// JWS

const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521', ES256K: 'secp256k1' }
const hashes = { ES256K: 'sha256' }
const hashOf = alg => hashes[alg] ?? `sha${alg.slice(2)}`
const rsa = [0, 1].map(() => c.generateKeyPairSync('rsa', { modulusLength: 2048 }))

function pairFor(alg, stranger) {
  if (/^(RS|PS)/.test(alg)) return rsa[stranger ? 1 : 0]
  if (alg.startsWith('ECDH-ES')) return c.generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (curves[alg]) return c.generateKeyPairSync('ec', { namedCurve: curves[alg] })
  return c.generateKeyPairSync('ed25519')
}

function signature(alg, key, data) {
  if (alg.startsWith('HS')) return c.createHmac(hashOf(alg), key).update(data).digest()
  if (alg.startsWith('Ed')) return c.sign(null, data, key)
  if (alg.startsWith('ES')) return c.sign(hashOf(alg), data, { key, dsaEncoding: 'ieee-p1363' })
  if (alg.startsWith('RS')) return c.sign(hashOf(alg), data, key)
  const padding = c.constants.RSA_PKCS1_PSS_PADDING
  return c.sign(hashOf(alg), data, { key, padding, saltLength: alg.slice(2) / 8 })
}

function jws(alg, key, value) {
  const input = `${json({ alg, typ: 'JWT' })}.${json(value)}`
  return `${input}.${alg === 'none' ? '' : b64(signature(alg, key, Buffer.from(input)))}`
}

function keysOf(pair, alg) {
  const jwk = key => ({ ...key.export({ format: 'jwk' }), alg })
  return {
    keys: { private: jwk(pair.privateKey), public: jwk(pair.publicKey), paserk: null },
    pem: {
      private: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      public: pair.publicKey.export({ type: 'spki', format: 'pem' })
    }
  }
}

function secretKeys(bytes, alg) {
  return { keys: { private: { kty: 'oct', k: b64(bytes), alg }, public: null, paserk: null } }
}

function signed(alg) {
  const isMac = alg.startsWith('HS')
  const pair = isMac ? null : pairFor(alg, false)
  const key = isMac ? c.randomBytes(alg.slice(2) / 8) : pair.privateKey
  const other = isMac ? c.randomBytes(alg.slice(2) / 8) : pairFor(alg, true).privateKey
  const tokens = claims.map(value => jws(alg, key, value))
  const reject = [
    ['a changed signature', flipped(tokens[0], 2)],
    ['changed claims', flipped(tokens[0], 1)],
    ['a changed header', flipped(tokens[0], 0, inType)],
    ['another key', jws(alg, other, claims[0])],
    ['alg none', jws('none', null, claims[0])],
    ['alg none with the signature', tokens[0].replace(/^[^.]+/, json({ alg: 'none', typ: 'JWT' }))],
    isMac
      ? ['an empty key', jws(alg, Buffer.alloc(0), claims[0])]
      : ['the public key as a secret', jws('HS256', keysOf(pair, alg).pem.public, claims[0])]
  ].map(([what, token]) => ({ what, token, by_signature: true }))
  for (const [what, value] of invalidVariants(claims[0], seconds)) {
    reject.push({ what, token: jws(alg, key, value), by_signature: false })
  }
  const keys = isMac ? secretKeys(key, alg) : keysOf(pair, alg)
  return { format: 'jwt', alg, enc: null, ...keys, tokens, reject }
}

// JWE

const encs = {
  A128GCM: 16,
  A192GCM: 24,
  A256GCM: 32,
  'A128CBC-HS256': 32,
  'A192CBC-HS384': 48,
  'A256CBC-HS512': 64
}

function sealed(enc, cek, iv, plaintext, aad) {
  if (enc.endsWith('GCM')) {
    const cipher = c.createCipheriv(`aes-${cek.length * 8}-gcm`, cek, iv).setAAD(aad)
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
    return [ciphertext, cipher.getAuthTag()]
  }
  const half = cek.length / 2
  const cipher = c.createCipheriv(`aes-${half * 8}-cbc`, cek.subarray(half), iv)
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(aad.length * 8))
  const mac = c.createHmac(`sha${half * 16}`, cek.subarray(0, half))
  const tag = mac.update(Buffer.concat([aad, iv, ciphertext, length])).digest()
  return [ciphertext, tag.subarray(0, half)]
}

const word = number => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}
const sized = bytes => Buffer.concat([word(bytes.length), bytes])

/** RFC 7518, section 4.6.2. */
function concatKdf(secret, name, length) {
  const info = [sized(Buffer.from(name)), word(0), word(0), word(length * 8)]
  const blocks = []
  for (let n = 1; n * 32 < length + 32; n++) {
    const input = Buffer.concat([word(n), secret, ...info])
    blocks.push(c.createHash('sha256').update(input).digest())
  }
  return Buffer.concat(blocks).subarray(0, length)
}

function wrapped(kek, cek) {
  const iv = Buffer.alloc(8, 0xa6)
  const cipher = c.createCipheriv(`id-aes${kek.length * 8}-wrap`, kek, iv)
  return Buffer.concat([cipher.update(cek), cipher.final()])
}

function jwe(alg, enc, key, value) {
  const header = { alg, enc, typ: 'JWT' }
  let cek = c.randomBytes(encs[enc])
  let encryptedKey = Buffer.alloc(0)
  if (alg === 'dir') {
    cek = key
  } else if (alg.startsWith('RSA')) {
    const oaepHash = { 'RSA-OAEP': 'sha1' }[alg] ?? `sha${alg.slice(9)}`
    encryptedKey = c.publicEncrypt(
      alg === 'RSA1_5' ? { key, padding: c.constants.RSA_PKCS1_PADDING } : { key, oaepHash },
      cek
    )
  } else if (alg.startsWith('ECDH-ES')) {
    const { privateKey, publicKey } = c.generateKeyPairSync('ec', { namedCurve: 'P-256' })
    header.epk = publicKey.export({ format: 'jwk' })
    const secret = c.diffieHellman({ privateKey, publicKey: key })
    if (alg === 'ECDH-ES') cek = concatKdf(secret, enc, encs[enc])
    else encryptedKey = wrapped(concatKdf(secret, alg, alg.slice(9, 12) / 8), cek)
  } else if (alg.startsWith('PBES2')) {
    const salt = c.randomBytes(16)
    Object.assign(header, { p2s: b64(salt), p2c: 2048 })
    const salted = Buffer.concat([Buffer.from(alg), Buffer.alloc(1), salt])
    const bytes = alg.slice(13, 16) / 8
    encryptedKey = wrapped(c.pbkdf2Sync(key, salted, 2048, bytes, `sha${alg.slice(8, 11)}`), cek)
  } else if (alg.endsWith('GCMKW')) {
    const iv = c.randomBytes(12)
    const [text, tag] = sealed('GCM', key, iv, cek, Buffer.alloc(0))
    encryptedKey = text
    Object.assign(header, { iv: b64(iv), tag: b64(tag) })
  } else {
    encryptedKey = wrapped(key, cek)
  }
  const aad = json(header)
  const iv = c.randomBytes(enc.endsWith('GCM') ? 12 : 16)
  const plaintext = Buffer.from(JSON.stringify(value))
  const [ciphertext, tag] = sealed(enc, cek, iv, plaintext, Buffer.from(aad))
  return [aad, ...[encryptedKey, iv, ciphertext, tag].map(b64)].join('.')
}

function encrypted(alg, enc) {
  const isPair = /^(RSA|ECDH)/.test(alg)
  const bytes = alg === 'dir' ? encs[enc] : Number(/(\d+)(GCM)?KW$/.exec(alg)?.[1]) / 8
  const pair = isPair ? pairFor(alg, false) : null
  const key = isPair ? pair.publicKey : c.randomBytes(bytes)
  const other = isPair ? pairFor(alg, true).publicKey : c.randomBytes(bytes)
  const tokens = claims.map(value => jwe(alg, enc, key, value))
  const reject = [
    ['a changed tag', flipped(tokens[0], 4)],
    ['a changed ciphertext', flipped(tokens[0], 3)],
    ['a changed nonce', flipped(tokens[0], 2)],
    ['a changed header', flipped(tokens[0], 0, inType)],
    ['another key', jwe(alg, enc, other, claims[0])]
  ].map(([what, token]) => ({ what, token, by_signature: true }))
  for (const [what, value] of invalidVariants(claims[0], seconds)) {
    reject.push({ what, token: jwe(alg, enc, key, value), by_signature: false })
  }
  const keys = isPair ? keysOf(pair, alg) : secretKeys(key, alg)
  return { format: 'jwe', alg, enc, ...keys, tokens, reject }
}

// PASETO

const size = number => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(number))
  return bytes
}
const pae = pieces => {
  const parts = pieces.map(piece => Buffer.from(piece))
  return Buffer.concat([size(parts.length), ...parts.flatMap(part => [size(part.length), part])])
}
const mac384 = (key, data) => c.createHmac('sha384', key).update(data).digest()
const empty = Buffer.alloc(0)

const versions = {
  1: {
    pair: stranger => rsa[stranger ? 1 : 0],
    public: key => b64(key.export({ type: 'spki', format: 'der' })),
    secret: key => b64(key.export({ type: 'pkcs1', format: 'der' })),
    sign(key, head, message) {
      const padding = c.constants.RSA_PKCS1_PSS_PADDING
      return c.sign('sha384', pae([head, message, empty]), { key, padding, saltLength: 48 })
    }
  },
  2: { sign: (key, head, message) => c.sign(null, pae([head, message, empty]), key) },
  3: {
    pair: () => c.generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    public: key => b64(point(key)),
    secret: key => key.export({ format: 'jwk' }).d,
    sign(key, head, message) {
      const data = pae([point(c.createPublicKey(key)), head, message, empty, empty])
      return c.sign('sha384', data, { key, dsaEncoding: 'ieee-p1363' })
    }
  },
  4: { sign: (key, head, message) => c.sign(null, pae([head, message, empty, empty]), key) }
}

function point(key) {
  const { x, y } = key.export({ format: 'jwk' })
  const odd = Buffer.from(y, 'base64url').at(-1) & 1
  return Buffer.concat([Buffer.from([2 + odd]), Buffer.from(x, 'base64url')])
}

function raw(key) {
  const { d, x } = key.export({ format: 'jwk' })
  return Buffer.concat([d, x].filter(Boolean).map(part => Buffer.from(part, 'base64url')))
}

function pasetoPublic(version) {
  const of = versions[version]
  const pairs = [false, true].map(
    stranger => of.pair?.(stranger) ?? c.generateKeyPairSync('ed25519')
  )
  const head = `v${version}.public.`
  const make = (value, { privateKey } = pairs[0]) => {
    const message = Buffer.from(JSON.stringify(value))
    return head + b64(Buffer.concat([message, of.sign(privateKey, head, message)]))
  }
  const paserk = {
    secret: `k${version}.secret.${of.secret?.(pairs[0].privateKey) ?? b64(raw(pairs[0].privateKey))}`,
    public: `k${version}.public.${of.public?.(pairs[0].publicKey) ?? b64(raw(pairs[0].publicKey))}`
  }
  return {
    ...pasetoRow(`v${version}.public`, make, pairs[1]),
    keys: { private: null, public: null, paserk },
    pem: keysOf(pairs[0]).pem
  }
}

function pasetoLocal(version) {
  const keys = [c.randomBytes(32), c.randomBytes(32)]
  const head = `v${version}.local.`
  const make = (value, key = keys[0]) => {
    const message = Buffer.from(JSON.stringify(value))
    const n = c.randomBytes(32)
    const derive = (name, length) => {
      const isFirst = version === 1
      const salt = isFirst ? n.subarray(0, 16) : empty
      const info = Buffer.concat([Buffer.from(name), isFirst ? empty : n])
      return Buffer.from(c.hkdfSync('sha384', key, salt, info, length))
    }
    const sealing = derive('paseto-encryption-key', version === 1 ? 32 : 48)
    const iv = version === 1 ? n.subarray(16) : sealing.subarray(32)
    const cipher = c.createCipheriv('aes-256-ctr', sealing.subarray(0, 32), iv)
    const text = Buffer.concat([cipher.update(message), cipher.final()])
    const tagging = derive('paseto-auth-key-for-aead', version === 1 ? 32 : 48)
    const pieces = [head, n, text, empty, ...(version === 1 ? [] : [empty])]
    return head + b64(Buffer.concat([n, text, mac384(tagging, pae(pieces))]))
  }
  return {
    ...pasetoRow(`v${version}.local`, make, keys[1]),
    keys: { private: null, public: null, paserk: { local: `k${version}.local.${b64(keys[0])}` } }
  }
}

function pasetoRow(format, make, stranger) {
  const tokens = pasetoClaims.map(value => make(value))
  const reject = [
    ['a changed signature', flipped(tokens[0], 2, bytes => bytes.length - 10)],
    ['changed claims', flipped(tokens[0], 2, () => 40)],
    ['another version', tokens[0].replace(/^v./, format.startsWith('v3') ? 'v4' : 'v3')],
    ['another key', make(pasetoClaims[0], stranger)]
  ].map(([what, token]) => ({ what, token, by_signature: true }))
  for (const [what, value] of invalidVariants(pasetoClaims[0], texts)) {
    reject.push({ what, token: make(value), by_signature: false })
  }
  return { format, alg: null, enc: null, tokens, reject }
}

function expiredVector(version) {
  const file = new URL(`../../vectors/paseto/v${version}.json`, import.meta.url)
  const { tests } = JSON.parse(readFileSync(file, 'utf8'))
  const test = tests.find(({ name, footer }) => name.includes('-E-') && footer === '')
  const paserk = { local: `k${version}.local.${b64(Buffer.from(test.key, 'hex'))}` }
  return {
    format: `v${version}.local`,
    alg: null,
    enc: null,
    keys: { private: null, public: null, paserk },
    tokens: [],
    reject: [
      { what: `an expired token`, token: test.token, by_signature: false },
      {
        what: 'a changed tag',
        token: flipped(test.token, 2, bytes => bytes.length - 10),
        by_signature: true
      }
    ]
  }
}

const jwsAlgs = ['HS', 'RS', 'PS', 'ES'].flatMap(family => [256, 384, 512].map(n => family + n))
const wraps = ['A128KW', 'A192KW', 'A256KW', 'A128GCMKW', 'A192GCMKW', 'A256GCMKW']
const transports = ['RSA1_5', 'RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512']
const agreements = ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW']
const passwords = ['PBES2-HS256+A128KW', 'PBES2-HS384+A192KW', 'PBES2-HS512+A256KW']
const rows = [
  ...[...jwsAlgs, 'ES256K', 'EdDSA', 'Ed25519'].map(signed),
  ...Object.keys(encs).map(enc => encrypted('dir', enc)),
  ...[...wraps, ...transports, ...agreements, ...passwords].map(alg => encrypted(alg, 'A256GCM')),
  ...['A128KW', 'RSA-OAEP', 'ECDH-ES'].map(alg => encrypted(alg, 'A128CBC-HS256')),
  ...[1, 2, 3, 4].map(pasetoPublic),
  ...[pasetoLocal(1), expiredVector(2), pasetoLocal(3), expiredVector(4)]
]
const text = JSON.stringify({ policy, claims, paseto_claims: pasetoClaims, rows }, null, 1)
writeFileSync(new URL('tokens.json', import.meta.url), text + '\n')
