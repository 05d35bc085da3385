import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import * as esm from 'jeton'
import { FixedClock, Issuer, JetonError, Key, Verifier } from 'jeton'

const require = createRequire(import.meta.url)
const setting = { issuer: 'https://id.example', audience: 'api' }

test('issue_then_verify_returns_the_claims', () => {
  const key = Key.generate('ES256', { keyId: 'a' })
  const token = new Issuer({ key, ...setting, lifetime: '15m' }).issue({ page: '/', sub: 'user-7' })
  const verified = new Verifier({ keys: key.publicKey(), ...setting }).verify(token)
  assert.equal(verified.claims.page, '/')
  assert.equal(verified.subject, 'user-7')
  assert.equal(verified.issuer, setting.issuer)
  assert.deepEqual(verified.audiences, ['api'])
  assert.deepEqual({ ...verified.header }, { algorithm: 'ES256', keyId: 'a', type: 'JWT', footer: undefined })
  assert.equal(verified.expiresAt - verified.issuedAt, 900_000)
  assert.equal(verified.notBefore, undefined)
})

test('both_module_systems_have_the_same_classes', () => {
  const cjs = require('jeton')
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort())
  for (const [name, value] of Object.entries(esm)) assert.equal(cjs[name], value)
})

test('expired_token_is_rejected_with_its_code', () => {
  const key = Key.generate('HS256')
  const clock = new FixedClock(1_800_000_000)
  const token = new Issuer({ key, ...setting, lifetime: 60, clock }).issue()
  const verifier = new Verifier({ keys: key, ...setting, clock })
  verifier.verify(token)
  clock.advance(60)
  assert.throws(() => verifier.verify(token), error => {
    assert.ok(error instanceof JetonError)
    assert.equal(error.name, 'JetonError')
    assert.equal(error.code, 'TOKEN_EXPIRED')
    assert.equal(error.number, 1)
    assert.ok(error.isRejection)
    return true
  })
})
