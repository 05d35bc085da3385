// Reads JWKs with jose for the study of key readers. The protocol is that of ../go/main.go.
import { createInterface } from 'node:readline'
import { exportJWK, importJWK } from 'jose'

const ENCRYPTS = new Set(['encrypt', 'decrypt', 'wrapKey', 'unwrapKey', 'deriveKey', 'deriveBits'])
const CURVES = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' }

let answers = ''
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const at = line.indexOf(' ')
  if (at < 0) {
    process.stdout.write(answers)
    answers = ''
    continue
  }
  answers += (await answer(Buffer.from(line.slice(at + 1), 'base64'))) + '\n'
}

async function answer(input) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(input)
    const jwk = JSON.parse(text)
    const alg = algorithm(jwk)
    if (alg === 'unknown') {
      return alg
    }
    const key = await importJWK(jwk, alg, { extractable: true })
    if (key instanceof Uint8Array) {
      return `secret oct ${Buffer.from(key).toString('hex')}`
    }
    const half = key.type
    return `${half} ${described(await exportJWK(key))}`
  } catch (error) {
    return `rejected ${String(error.message).replaceAll('\n', ' ')}`
  }
}

// The algorithm of a key that names none.
function algorithm(jwk) {
  if (typeof jwk !== 'object' || jwk === null || jwk.alg !== undefined) {
    return undefined
  }
  const encrypts = jwk.use === 'enc' || (Array.isArray(jwk.key_ops) && jwk.key_ops.some(name => ENCRYPTS.has(name)))
  switch (jwk.kty) {
    case 'RSA':
      return encrypts ? 'RSA-OAEP-256' : 'RS256'
    case 'EC':
      return jwk.crv in CURVES ? (encrypts ? 'ECDH-ES' : CURVES[jwk.crv]) : 'unknown'
    case 'OKP':
      return jwk.crv === 'Ed25519' ? 'Ed25519' : jwk.crv === 'X25519' ? 'ECDH-ES' : 'unknown'
    case 'AKP':
      return 'unknown'
    default:
      return undefined
  }
}

function described(jwk) {
  const hex = (text) => Buffer.from(text, 'base64url').toString('hex')
  switch (jwk.kty) {
    case 'RSA':
      return `RSA ${hex(jwk.n)} ${hex(jwk.e)}`
    case 'EC':
      return `EC ${jwk.crv} ${hex(jwk.x)}${hex(jwk.y)}`
    default:
      return `${jwk.crv} ${hex(jwk.x)}`
  }
}
