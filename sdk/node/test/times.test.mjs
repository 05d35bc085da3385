import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FixedClock, Issuer, JetonError, Key, Verifier } from 'jeton'

const key = Key.generate('HS256')
const setting = { issuer: 'i', audience: 'a' }
const issuer = new Issuer({ key, ...setting, lifetime: 60 })

function codeOf(verifier, token) {
  try {
    verifier.verify(token)
    return undefined
  } catch (error) {
    assert.ok(error instanceof JetonError)
    return error.code
  }
}

// Other libraries write the time with a fraction: the system clock has reached it.
test('fractional_iat_and_nbf_verify_at_once', () => {
  const verifier = new Verifier({ keys: key, ...setting })
  let accepted = 0
  for (let round = 0; round < 300; round++) {
    const now = Date.now() / 1000
    if (codeOf(verifier, issuer.issue({ iat: now, nbf: now })) === undefined) accepted++
  }
  assert.equal(accepted, 300)
})

test('clock_of_a_test_has_microseconds', () => {
  const clock = new FixedClock(1_800_000_000.5)
  const verifier = new Verifier({ keys: key, ...setting, clock })
  const early = issuer.issue({ nbf: 1_800_000_000.75, iat: 1_800_000_000 })
  assert.equal(codeOf(verifier, issuer.issue({ nbf: 1_800_000_000.5, iat: 1_800_000_000 })), undefined)
  assert.equal(codeOf(verifier, early), 'TOKEN_NOT_YET_VALID')
  clock.set(new Date(1_800_000_000_750))
  assert.equal(codeOf(verifier, early), undefined)
  for (const outside of [-1, 253_402_300_800, 1e15]) {
    assert.throws(() => new FixedClock(outside), { code: 'CLAIM_RANGE' })
  }
  for (const wrong of [NaN, Infinity, '1', new Date(NaN)]) {
    assert.throws(() => new FixedClock(wrong), { code: 'INVALID_OPTION' })
  }
})

test('iat_is_ahead_of_the_clock_by_a_minute', () => {
  const clock = new FixedClock(1_800_000_000)
  const verifier = new Verifier({ keys: key, ...setting, clock })
  const young = new Verifier({ keys: key, ...setting, clock, maxAge: 3600 })
  for (const [ahead, code, withMaxAge] of [
    [0, undefined, undefined],
    [60, undefined, 'TOKEN_NOT_YET_VALID'],
    [61, 'TOKEN_NOT_YET_VALID', 'TOKEN_NOT_YET_VALID'],
    [3600, 'TOKEN_NOT_YET_VALID', 'TOKEN_NOT_YET_VALID']
  ]) {
    const token = issuer.issue({ iat: 1_800_000_000 + ahead })
    assert.equal(codeOf(verifier, token), code, `${ahead}`)
    assert.equal(codeOf(young, token), withMaxAge, `${ahead}`)
  }
})
