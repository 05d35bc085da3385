// A verified token has its own header and times, whatever else runs during its verification.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Issuer, Key, RemoteKeySet, Verifier } from 'jeton'
import { TestIssuer } from 'jeton/testing'

const setting = { issuer: 'https://id.example', audience: 'api' }

/** Creates an issuer of tokens with a footer, and their verifier. */
function tenant(footer, options) {
  const key = Key.generate('v4.public')
  return {
    key,
    issuer: new Issuer({ key, ...setting, lifetime: 60, footer }),
    verifier: new Verifier({ keys: key.publicKey(), ...setting, ...options })
  }
}

test('header_after_a_rejected_token_is_not_from_another_verifier', async () => {
  const onlyNumbers = claims => {
    if (typeof claims.n !== 'number') throw new TypeError('not a number')
    return claims
  }
  for (const [options, wrong] of [
    [{ schema: onlyNumbers }, '{}'],
    [{}, '{"n":9007199254740993}']
  ]) {
    for (const way of ['verify', 'verifyAsync']) {
      const a = tenant('tenant-a', options)
      const b = tenant('tenant-b', {})
      const rejected = a.issuer.issueJson(wrong)
      await assert.rejects(async () => a.verifier[way](rejected), { code: 'TOKEN_CLAIMS_SHAPE' })
      assert.equal(b.verifier.verify(b.issuer.issue()).header.footer, 'tenant-b')
      const { header } = await a.verifier[way](a.issuer.issue({ n: 1 }))
      assert.deepEqual(header, { algorithm: 'v4.public', keyId: undefined, type: undefined, footer: 'tenant-a' })
    }
  }
})

test('times_are_not_from_a_token_that_the_schema_verifies', async () => {
  const [a, b] = ['a', 'b'].map(keyId => Key.generate('ES256', { keyId }))
  const schema = claims => {
    if (claims.act !== undefined) verifier.verify(claims.act)
    return claims
  }
  const verifier = new Verifier({ keys: [a, b], ...setting, schema })
  const inner = new Issuer({ key: a, ...setting, lifetime: '1d' }).issue({ sub: 'inner' })
  const outer = new Issuer({ key: b, ...setting, lifetime: 60 }).issue({ sub: 'outer', act: inner })
  for (const verified of [verifier.verify(outer), await verifier.verifyAsync(outer)]) {
    assert.equal(verified.expiresAt.getTime() / 1000, verified.claims.exp)
    assert.equal(verified.issuedAt.getTime() / 1000, verified.claims.iat)
    assert.equal(verified.header.keyId, 'b')
  }
})

test('header_is_not_from_a_token_that_the_client_verifies', async () => {
  const idp = new TestIssuer()
  const other = tenant('other', {})
  let last
  const fetch = (...request) => {
    last = verifier.verifyJson(second)
    other.verifier.verify(other.issuer.issue())
    return idp.fetch(...request)
  }
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: (...all) => fetchNow(...all), freshFor: 0, cooldown: 0 })
  let fetchNow = idp.fetch
  const verifier = idp.verifier({ keys })
  const first = idp.issue({ sub: 'first' })
  await keys.ready()
  idp.rotate()
  const second = idp.issue({ sub: 'second' }, { lifetime: 7200 })
  await verifier.verifyAsync(second)
  await verifier.verifyAsync(first)
  await new Promise(resolve => setTimeout(resolve, 1100))
  fetchNow = fetch
  const verified = await verifier.verifyAsync(first)
  assert.equal(last.header.keyId, 'test-2')
  assert.equal(verified.header.keyId, 'test-1')
  assert.equal(verified.expiresAt.getTime() / 1000, verified.claims.exp)
})
