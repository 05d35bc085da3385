import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { Server, ServerCredentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { createSigner, createVerifier } from 'fast-jwt'

const PROTO = fileURLToPath(new URL('../../../proto/jwt/services/jwt_service.proto', import.meta.url))
const ADDRESSES = Array.from({ length: 1000 }, (_, i) => `user${String(i).padStart(4, '0')}@mail.test`)
const LIFETIME_SECONDS = 7200

function loadKeys({ hs256, es256 }) {
  const secret = readFileSync(hs256)
  const pem = readFileSync(es256, 'utf8')
  const publicPem = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' })
  return {
    HS256: {
      sign: createSigner({ algorithm: 'HS256', key: secret }),
      verify: createVerifier({ algorithms: ['HS256'], key: secret }),
    },
    ES256: {
      sign: createSigner({ algorithm: 'ES256', key: pem, kid: 'report' }),
      verify: createVerifier({ algorithms: ['ES256'], key: publicPem }),
    },
  }
}

// Signs a token for the next address, verifies it, and returns both. The bug: nothing catches the
// exception for an unknown algorithm, and an unhandled rejection ends Node.
function generateJwt(keys) {
  let next = 0
  return async (call, answer) => {
    const { sign, verify } = keys[call.request.algorithm]
    const sub = ADDRESSES[next]
    next = (next + 1) % ADDRESSES.length
    const iat = Math.floor(Date.now() / 1000)
    const jwt = sign({ sub, iat, exp: iat + LIFETIME_SECONDS })
    if (verify(jwt).sub !== sub) throw new Error('the subject does not match')
    answer(null, { jwt, sub })
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
