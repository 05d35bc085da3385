import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { Server, ServerCredentials, loadPackageDefinition, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { createSigner, createVerifier } from 'fast-jwt'

const PROTO = fileURLToPath(new URL('../../../proto/jwt/services/jwt_service.proto', import.meta.url))
const ADDRESSES = Array.from({ length: 1000 }, (_, i) => `user${String(i).padStart(4, '0')}@mail.test`)
const LIFETIME_SECONDS = 7200
// The secret of HS256 has at least as many bytes as the hash (RFC 7518, section 3.2).
const SECRET_BYTES = 32

// Returns a signer and a verifier for each algorithm, created once.
export function loadKeys({ hs256, es256 }) {
  const secret = readFileSync(hs256)
  if (secret.length < SECRET_BYTES) {
    throw new Error(`${hs256}: the secret has ${secret.length} bytes, HS256 requires at least ${SECRET_BYTES}`)
  }
  const pem = readFileSync(es256, 'utf8')
  const publicPem = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' })
  return new Map([
    ['HS256', pair('HS256', secret, secret)],
    ['ES256', pair('ES256', pem, publicPem, 'report')],
  ])
}

function pair(algorithm, key, publicKey, kid) {
  return {
    sign: createSigner({ algorithm, key, kid }),
    verify: createVerifier({ algorithms: [algorithm], key: publicKey, requiredClaims: ['exp'] }),
  }
}

// Signs a token for the next address, verifies it, and returns both.
export function generateJwt(keys) {
  // In a cluster each process has its own addresses: they do not all begin with the same one.
  let next = process.pid % ADDRESSES.length
  return (call, answer) => {
    const pair = keys.get(call.request.algorithm)
    if (!pair) {
      answer({ code: status.INVALID_ARGUMENT, details: 'algorithm must be HS256 or ES256' })
      return
    }
    const sub = ADDRESSES[next]
    next = (next + 1) % ADDRESSES.length
    try {
      const iat = Math.floor(Date.now() / 1000)
      const jwt = pair.sign({ sub, iat, exp: iat + LIFETIME_SECONDS })
      if (pair.verify(jwt).sub !== sub) throw new Error('the subject does not match')
      answer(null, { jwt, sub })
    } catch {
      answer({ code: status.INTERNAL, details: 'the token could not be signed or verified' })
    }
  }
}

// Serves until the process ends. Returns the address that it listens on.
export function listen(options) {
  const { jwt } = loadPackageDefinition(loadSync(PROTO))
  const server = new Server()
  server.addService(jwt.services.JwtService.service, { GenerateJwt: generateJwt(loadKeys(options)) })
  const host = options.listen.slice(0, options.listen.lastIndexOf(':'))
  return new Promise((resolve, reject) => {
    server.bindAsync(options.listen, ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error)
      else resolve(`${host}:${port}`)
    })
  })
}
