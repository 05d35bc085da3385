import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

import { createVerifier } from 'fast-jwt'

import { generateJwt, loadKeys } from './service.js'

const folder = mkdtempSync(join(tmpdir(), 'server-'))
test.after(() => rmSync(folder, { recursive: true }))

const secret = randomBytes(32)
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const files = { hs256: join(folder, 'hs256'), es256: join(folder, 'es256') }
writeFileSync(files.hs256, secret)
writeFileSync(files.es256, privateKey.export({ type: 'pkcs8', format: 'pem' }))

const service = generateJwt(loadKeys(files))
const call = (algorithm) =>
  new Promise((resolve, reject) => {
    service({ request: { algorithm } }, (error, answer) => (error ? reject(error) : resolve(answer)))
  })

test('token verifies with the given key and names the next address', async () => {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })
  const subjects = new Set()
  for (const [algorithm, key] of [['HS256', secret], ['ES256', publicKey]]) {
    const { jwt, sub } = await call(algorithm)
    const claims = createVerifier({ algorithms: [algorithm], key })(jwt)
    assert.equal(claims.sub, sub)
    assert.equal(claims.exp - claims.iat, 7200)
    assert.equal(sub.length, 18)
    subjects.add(sub)
  }
  assert.equal(subjects.size, 2)
})

test('call with unknown algorithm is an error', async () => {
  for (const algorithm of ['', 'none', 'HS512']) {
    await assert.rejects(call(algorithm), { code: 3 })
  }
  await call('HS256')
})

test('short secret is rejected', () => {
  const short = join(folder, 'short')
  writeFileSync(short, 'short')
  assert.throws(() => loadKeys({ ...files, hs256: short }), /HS256 requires at least 32/)
})
