// Several issuers, each with its own keys and its own policy.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FixedClock, Issuer, Key, MultiIssuerVerifier, RemoteKeySet, readUnverified } from 'jeton'
import { authenticator } from 'jeton/bearer'
import { TestIssuer } from 'jeton/testing'

const [a, b] = ['https://a.example', 'https://b.example']

/** Two issuers with remote keys. */
function both(options = {}) {
  const idps = [a, b].map(issuer => new TestIssuer({ issuer }))
  const issuers = idps.map(idp => ({ issuer: idp.issuer, audience: 'api', keys: idp.remoteKeys(), ...options }))
  return { idps, issuers, verifier: new MultiIssuerVerifier(issuers) }
}

test('issuer_selects_its_keys_before_a_fetch', async () => {
  const { idps: [first, second], verifier } = both()
  assert.throws(() => verifier.verify(first.issue()), { code: 'KEY_SET_TO_FETCH' })
  assert.equal((await verifier.verifyAsync(first.issue({ sub: 'user-7' }))).subject, 'user-7')
  assert.equal(verifier.verify(first.issue()).issuer, a)
  assert.equal(verifier.verifyJson(first.issue()).issuer, a)
  assert.deepEqual([first.requests, second.requests], [2, 0])
  assert.equal((await verifier.verifyAsync(second.issue())).issuer, b)
})

test('unknown_issuer_costs_no_request', async () => {
  const { idps, verifier } = both()
  const other = new TestIssuer({ issuer: 'https://c.example' })
  const without = new Issuer({ key: Key.generate('ES256'), audience: 'api', lifetime: 60 })
  const encrypted = new Issuer({ key: Key.generate('dir', { contentEncryption: 'A256GCM' }), issuer: a, lifetime: 60 })
  for (const [token, code] of [
    [other.issue(), 'TOKEN_ISSUER_MISMATCH'],
    [other.issue({}, { issuer: `${a}/` }), 'TOKEN_ISSUER_MISMATCH'],
    [other.issue({}, { issuer: '__proto__' }), 'TOKEN_ISSUER_MISMATCH'],
    [without.issue(), 'TOKEN_INVALID_CLAIMS'],
    [encrypted.issue(), 'TOKEN_MALFORMED'],
    ['abc', 'TOKEN_MALFORMED'],
    [undefined, 'TOKEN_MALFORMED']
  ]) {
    assert.throws(() => verifier.verify(token), { name: 'JetonError', code })
    await assert.rejects(verifier.verifyAsync(token), { name: 'JetonError', code })
    assert.throws(() => verifier.verifyJson(token), { name: 'JetonError', code })
  }
  assert.deepEqual(idps.map(idp => idp.requests), [0, 0])
})

test('key_of_an_issuer_cannot_sign_for_another', async () => {
  const { idps: [first, second], verifier } = both()
  await verifier.verifyAsync(first.issue())
  await assert.rejects(verifier.verifyAsync(first.issue({}, { issuer: b })), { code: 'TOKEN_INVALID_SIGNATURE' })
  await assert.rejects(verifier.verifyAsync(second.issue({}, { issuer: a })), { code: 'TOKEN_INVALID_SIGNATURE' })
})

test('policy_of_the_issuer_counts', async () => {
  const clock = new FixedClock(1_800_000_000)
  const [one, other, paseto] = ['ES256', 'EdDSA', 'v4.public'].map(algorithm => Key.generate(algorithm))
  const c = 'https://c.example'
  const verifier = new MultiIssuerVerifier([
    { issuer: a, audience: 'api', keys: one, clock, maxAge: 60 },
    { issuer: [b, `${b}/old`], sharedKeys: true, audience: 'other', keys: [other], clock, schema: ({ n }) => ({ n: n + 1 }) },
    { issuer: c, anyAudience: true, keys: paseto.publicKey(), clock }
  ])
  const issue = (key, options) => new Issuer({ key, clock, lifetime: '1h', ...options }).issue({ n: 1 })
  const old = issue(one, { issuer: a, audience: 'api' })
  assert.equal(verifier.verify(old).claims.n, 1)
  clock.advance(61)
  assert.throws(() => verifier.verify(old), { code: 'TOKEN_TOO_OLD' })
  for (const issuer of [b, `${b}/old`]) {
    assert.deepEqual(verifier.verify(issue(other, { issuer, audience: 'other' })).claims, { n: 2 })
  }
  assert.throws(() => verifier.verify(issue(other, { issuer: b, audience: 'api' })), { code: 'TOKEN_AUDIENCE_MISMATCH' })
  assert.equal(verifier.verify(issue(paseto, { issuer: c })).claims.n, 1)
  verifier.close()
  assert.throws(() => verifier.verify(old), { code: 'ARGUMENT_HANDLE' })
})

test('wrong_issuers_are_refused_with_their_place', () => {
  const key = Key.generate('ES256')
  const good = { issuer: a, audience: 'api', keys: key }
  const cases = [
    [[good, { ...good }], 'ISSUER_TWICE', 'issuers[1]: issuers[0] has the same issuer'],
    [[good, { ...good, issuer: [b, a], sharedKeys: true }], 'ISSUER_TWICE', 'issuers[1]: issuers[0] has the same issuer'],
    [[{ ...good, issuer: [] }], 'ISSUER_NOT_CHOSEN', 'issuers[0]: option `issuer`: missing'],
    [[{ ...good, issuer: undefined }], 'ISSUER_NOT_CHOSEN', 'issuers[0]: option `issuer`: missing'],
    [[good, { ...good, issuer: b, anyIssuer: true }], 'INVALID_OPTION', 'issuers[1]: option `anyIssuer`: does not apply to one of several issuers'],
    [[{ ...good, decryption: key }], 'INVALID_OPTION', 'issuers[0]: option `decryption`: does not apply to one of several issuers'],
    [[{ ...good, format: 'jws' }], 'INVALID_OPTION', 'issuers[0]: option `format`: does not apply to one of several issuers'],
    [[{ ...good, audiense: 'api' }], 'INVALID_OPTION', 'issuers[0]: option `audiense`: unknown'],
    [[undefined], 'INVALID_OPTION', 'issuers[0]: the options are not an object'],
    [[], 'INVALID_OPTION', 'the issuers are not a list with an element'],
    [good, 'INVALID_OPTION', 'the issuers are not a list with an element']
  ]
  for (const [issuers, code, message] of cases) {
    assert.throws(() => new MultiIssuerVerifier(issuers), { name: 'JetonError', code, message }, message)
  }
  assert.throws(() => new MultiIssuerVerifier([{ ...good, issuer: [a, b] }]), { code: 'INVALID_OPTION', message: /^issuers\[0\]: .*sharedKeys/ })
})

test('middleware_accepts_several_issuers', async () => {
  const { idps: [first], issuers } = both()
  const down = { ...issuers[1], keys: new RemoteKeySet({ issuer: b, fetch: async () => new Response(null, { status: 500 }) }) }
  const authenticate = authenticator({ verifier: new MultiIssuerVerifier([issuers[0], down]) })
  const status = async token => {
    const { refusal } = await authenticate({ headers: { authorization: `Bearer ${token}` } })
    return refusal?.status
  }
  assert.equal(await status(first.issue()), undefined)
  assert.equal(await status(first.issue({}, { issuer: 'https://c.example' })), 401)
  assert.equal(await status(first.issue({}, { issuer: b })), 503)
})

test('unverified_token_is_read_without_a_key', () => {
  const key = Key.generate('ES256', { keyId: 'k' })
  const token = new Issuer({ key, issuer: a, withoutExpiry: true }).issue({ iat: 7 })
  const forged = `${token.slice(0, -4)}AAAA`
  assert.deepEqual(readUnverified(forged), {
    format: 'jwt',
    header: { alg: 'ES256', typ: 'JWT', kid: 'k' },
    claims: { iss: a, iat: 7 },
    footer: null
  })
  const paseto = new Issuer({ key: Key.generate('v4.local'), footer: 'f', lifetime: 60 }).issue()
  assert.deepEqual(readUnverified(paseto), { format: 'paseto', header: null, claims: null, footer: 'f' })
  for (const wrong of ['', 'a.b', undefined, 7]) assert.throws(() => readUnverified(wrong), { code: 'TOKEN_MALFORMED' })
})
