// Runs every case of sdk/testdata/cases.jsonl, without exception.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { FixedClock, Issuer, JetonError, Key, KeySet, MultiIssuerVerifier, Verifier, readUnverified } from 'jeton'

const file = new URL('../../testdata/cases.jsonl', import.meta.url)
const cases = readFileSync(file, 'utf8').trimEnd().split('\n').map(line => JSON.parse(line))

/** Maps the option names of the core to the names of this library. */
const names = {
  access_tokens: 'accessTokens',
  any_audience: 'anyAudience',
  any_issuer: 'anyIssuer',
  enc: 'contentEncryption',
  implicit_assertion: 'implicitAssertion',
  issued_ago: 'issuedAgo',
  json_depth: 'jsonDepth',
  max_age: 'maxAge',
  shared_keys: 'sharedKeys',
  token_bytes: 'tokenBytes',
  typ: 'type',
  without_expiry: 'withoutExpiry'
}

function optionsOf(options = {}) {
  const named = ([name, value]) => [names[name] ?? name, name === 'limits' ? optionsOf(value) : value]
  return Object.fromEntries(Object.entries(options).map(named))
}

function keyOf({ data, options = {} }) {
  const { alg: algorithm, enc: contentEncryption, format } = options
  const chosen = { algorithm, contentEncryption }
  return format === 'secret' ? Key.fromSecret(data, chosen) : Key.import(data, chosen)
}

function verifierOf({ issuers, now, ...one }) {
  if (!issuers) return new Verifier(verifierOptionsOf({ ...one, now }))
  return new MultiIssuerVerifier(issuers.map(issuer => verifierOptionsOf({ ...issuer, now })))
}

function verifierOptionsOf({ key, keys, decryption, options, now }) {
  const set = keys && KeySet.import(keys.data, { defaultAlgorithm: keys.options?.default_alg })
  return {
    keys: key ? keyOf(key) : set,
    decryption: decryption?.map(keyOf),
    clock: now === undefined ? undefined : new FixedClock(now),
    ...optionsOf(options)
  }
}

/** The `KeyObject` is the same key. */
function checkKeyObject(key) {
  let found
  try {
    found = key.toKeyObject()
  } catch ({ code }) {
    assert.equal(code, 'KEY_UNSUPPORTED')
    return
  }
  assert.equal(Key.import(found, { algorithm: key.algorithm }).thumbprint(), key.thumbprint())
}

/** Returns the expected text if it has this value, and the text of the value otherwise. */
function sameJson(text, value) {
  const own = value && JSON.stringify(value)
  return text !== undefined && own === JSON.stringify(JSON.parse(text)) ? text : own
}

const actions = {
  verify(one) {
    const verifier = verifierOf(one)
    const found = verifier.verifyJson(one.token)
    let claims
    try {
      claims = verifier.verify(one.token).claims
    } catch (error) {
      // JavaScript cannot represent some numbers. This is the only difference.
      assert.equal(error.code, 'TOKEN_CLAIMS_SHAPE')
      claims = JSON.parse(found.json)
      assert.match(found.json, /\d{16}|[eE]/)
    }
    assert.deepEqual(claims, JSON.parse(found.json))
    const seconds = date => date && date.getTime() / 1000
    return {
      json: found.json,
      header: sameJson(one.expect.header, found.protectedHeader),
      alg: found.header.algorithm,
      kid: found.header.keyId,
      typ: found.header.type,
      footer: found.header.footer,
      issuer: found.issuer,
      subject: found.subject,
      audiences: found.audiences.length === 0 ? undefined : found.audiences,
      expires_at: seconds(found.expiresAt),
      not_before: seconds(found.notBefore),
      issued_at: seconds(found.issuedAt),
      token_id: found.tokenId
    }
  },
  unverified(one) {
    return { json: sameJson(one.expect.json, readUnverified(one.token)) }
  },
  'verify-bytes'(one) {
    const content = one.content === undefined ? undefined : Buffer.from(one.content, 'base64url')
    return { payload: verifierOf(one).verifyBytes(one.token, content).toString('base64url') }
  },
  issue(one) {
    const options = { key: keyOf(one.key), clock: new FixedClock(one.now), ...optionsOf(one.options) }
    const token = new Issuer(options).issueJson(one.claims)
    return { token: one.expect.token === undefined ? undefined : token }
  },
  import(one) {
    const key = keyOf(one.key)
    const { kind, algorithm: alg, id: kid } = key
    const isPaseto = /^v\d/.test(alg)
    if (kind !== 'symmetric' && !isPaseto) checkKeyObject(key)
    return { kind, alg, kid, thumbprint: isPaseto ? undefined : key.thumbprint() }
  }
}

function run(one) {
  try {
    return actions[one.do](one)
  } catch (error) {
    if (!(error instanceof JetonError)) throw error
    return { code: error.code }
  }
}

test('every_case_has_the_expected_result', () => {
  assert.ok(cases.length >= 1110, `${cases.length} cases`)
  const failed = []
  for (const one of cases) {
    const found = JSON.parse(JSON.stringify(run(one)))
    try {
      assert.deepEqual(found, one.expect)
    } catch {
      failed.push(`${one.id}: ${JSON.stringify(found)}, expected ${JSON.stringify(one.expect)}`)
    }
  }
  assert.deepEqual(failed, [])
})
