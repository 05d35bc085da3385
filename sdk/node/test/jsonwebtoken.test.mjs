// Compares `jeton/compat/jsonwebtoken` with jsonwebtoken, and tests what it refuses.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { Issuer, Key } from 'jeton'
import jwt, {
  JsonWebTokenError,
  NotBeforeError,
  RefusedTokenError,
  RefusedUseError,
  TokenExpiredError
} from 'jeton/compat/jsonwebtoken'
import { TestIssuer } from 'jeton/testing'
import original from 'jsonwebtoken'

import { keyObjectOf } from '../dist/compat/keys.js'

const secret = 'a secret of the tests, for HS512, that has as many as 64 bytes ..'
const pems = { privateKeyEncoding: { type: 'pkcs8', format: 'pem' }, publicKeyEncoding: { type: 'spki', format: 'pem' } }
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048, ...pems })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256', ...pems })
const pairs = [
  ...['HS256', 'HS384', 'HS512'].map(algorithm => [algorithm, secret, secret]),
  ...['RS256', 'RS512', 'PS256', 'PS384'].map(algorithm => [algorithm, rsa.privateKey, rsa.publicKey]),
  ['ES256', ec.privateKey, ec.publicKey]
]

test('both_packages_verify_tokens_of_each_other', () => {
  const options = { expiresIn: '15m', notBefore: '-1s', audience: ['a', 'b'], issuer: 'i', subject: 's', jwtid: 'j', keyid: 'k' }
  const checks = { audience: [/^b$/], issuer: ['x', 'i'], subject: 's', jwtid: 'j', maxAge: '1h', complete: true }
  for (const [algorithm, ours, theirs] of pairs) {
    const tokens = [jwt, original].map(one => one.sign({ page: '/' }, ours, { algorithm, ...options }))
    for (const token of tokens) {
      const found = [jwt, original].map(one => one.verify(token, theirs, { algorithms: [algorithm], ...checks }))
      assert.deepEqual(found[0].payload, found[1].payload)
      assert.deepEqual(jwt.decode(token, { complete: true }), original.decode(token, { complete: true }))
    }
    const [own, other] = tokens.map(token => jwt.decode(token, { complete: true }).header)
    assert.deepEqual(own, other)
  }
})

/** Returns the result or the error of a call, for comparison. */
function outcome(run) {
  try {
    return run()
  } catch ({ name, message, expiredAt, date }) {
    return { name, message, expiredAt, date }
  }
}

test('text_key_is_converted_once', () => {
  for (const key of [secret, Buffer.from(secret), rsa.privateKey]) {
    for (const half of ['private', 'public']) assert.equal(keyObjectOf(half, key), keyObjectOf(half, key))
  }
  const bytes = Buffer.alloc(32, 1)
  const token = jwt.sign({}, bytes)
  jwt.verify(token, bytes)
  bytes.fill(2)
  assert.throws(() => jwt.verify(token, bytes), { message: 'invalid signature' })
  assert.notEqual(keyObjectOf('private', rsa.privateKey), keyObjectOf('public', rsa.privateKey))
})

test('wrong_calls_have_the_same_errors', () => {
  const now = 1_800_000_000
  const good = original.sign({ iat: now, exp: now + 60, nbf: now, aud: 'a', nonce: 'n' }, secret)
  const calls = [
    one => one.sign({}, ''),
    one => one.sign(undefined, secret),
    one => one.sign({ exp: 'x' }, secret),
    one => one.sign({ exp: 1 }, secret, { expiresIn: 1 }),
    one => one.sign({ iss: 'a' }, secret, { issuer: 'b' }),
    one => one.sign({}, secret, { expiresIn: '1 fortnight' }),
    one => one.sign({}, secret, { unknown: 1 }),
    one => one.sign('text', secret, { expiresIn: 1 }),
    one => one.sign({}, secret, { algorithm: 'RS256' }),
    one => one.sign({}, rsa.privateKey),
    one => one.sign({}, ec.privateKey, { algorithm: 'ES384' }),
    one => one.sign({}, rsa.privateKey, { algorithm: 'ES256' }),
    one => one.verify('', secret),
    one => one.verify(7, secret),
    one => one.verify('a.b', secret),
    one => one.verify('a.b.c', secret),
    one => one.verify(good, ''),
    one => one.verify(good, secret, { clockTimestamp: now + 60 }),
    one => one.verify(good, secret, { clockTimestamp: now + 60, ignoreExpiration: true }),
    one => one.verify(good, secret, { clockTimestamp: now + 60, clockTolerance: 1 }),
    one => one.verify(good, secret, { clockTimestamp: now - 5 }),
    one => one.verify(good, secret, { clockTimestamp: now, audience: 'b' }),
    one => one.verify(good, secret, { clockTimestamp: now, issuer: 'b' }),
    one => one.verify(good, secret, { clockTimestamp: now, subject: 'b' }),
    one => one.verify(good, secret, { clockTimestamp: now, nonce: 'b' }),
    one => one.verify(good, secret, { clockTimestamp: now, nonce: 'n' }),
    one => one.verify(good, secret, { clockTimestamp: now + 30, maxAge: 20 }),
    one => one.verify(good, `${secret}x`, { clockTimestamp: now }),
    one => one.verify(good, rsa.publicKey),
    one => one.verify(good, rsa.publicKey, { algorithms: ['HS256'] }),
    one => one.verify(good.slice(0, good.lastIndexOf('.') + 1), secret),
    one => one.verify(good, secret, { algorithms: ['HS384'] }),
    one => one.decode('no token'),
    one => one.verify(original.sign('a text', secret), secret)
  ]
  for (const call of calls) assert.deepEqual(outcome(() => call(jwt)), outcome(() => call(original)), `${call}`)
})

test('errors_have_their_classes', () => {
  const old = jwt.sign({ exp: 1 }, secret)
  assert.throws(() => jwt.verify(old, secret), TokenExpiredError)
  assert.throws(() => jwt.verify(jwt.sign({ nbf: 4102444800 }, secret), secret), NotBeforeError)
  assert.throws(() => jwt.verify(`${old}x`, secret), JsonWebTokenError)
  assert.equal(createRequire(import.meta.url)('jeton/compat/jsonwebtoken').verify, jwt.verify)
})

test('callbacks_are_called_once', async () => {
  const call = run => new Promise(resolve => run((error, value) => resolve([error?.message ?? null, value])))
  const [, token] = await call(done => jwt.sign({ page: '/' }, rsa.privateKey, { algorithm: 'RS256' }, done))
  const [, claims] = await call(done => jwt.verify(token, (header, found) => found(null, rsa.publicKey), done))
  assert.equal(claims.page, '/')
  assert.deepEqual(await call(done => jwt.sign({}, '', done)), ['secretOrPrivateKey must have a value', undefined])
  const failing = done => jwt.verify(token, (_, found) => found(new Error('no key')), done)
  assert.deepEqual(await call(failing), ['error in secret or public key callback: no key', undefined])
})

/** The keys of a provider as jwks-rsa has them: cached by `kid`, and fetched again for an unknown one. */
function keysOf(address) {
  const cache = new Map()
  return (header, found) => {
    const key = cache.get(header.kid)
    if (key) return found(null, key)
    fetch(address)
      .then(response => response.json())
      .then(({ keys }) => {
        cache.clear()
        for (const jwk of keys) {
          cache.set(jwk.kid, createPublicKey({ key: jwk, format: 'jwk' }).export(pems.publicKeyEncoding))
        }
        const key = cache.get(header.kid)
        return key ? found(null, key) : found(new Error(`no key has the id ${header.kid}`))
      }, found)
  }
}

test('key_callback_follows_a_rotation', async () => {
  const idp = new TestIssuer()
  let published = idp.jwks
  const server = createServer((_, response) => response.end(JSON.stringify(published)))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const options = { algorithms: ['ES256'], issuer: idp.issuer, audience: idp.audience }
  const old = idp.issue({ sub: 'user-7' })
  const first = idp.jwks
  idp.rotate()
  const next = idp.issue({ sub: 'user-8' })
  // The same program with both libraries.
  for (const library of [original, jwt]) {
    const getKey = keysOf(`http://127.0.0.1:${server.address().port}/jwks`)
    const verified = token => new Promise(resolve => {
      library.verify(token, getKey, options, (error, claims) => resolve(error?.name ?? claims.sub))
    })
    published = first
    assert.deepEqual([await verified(old), await verified(next)], ['user-7', 'JsonWebTokenError'])
    published = idp.jwks
    assert.deepEqual([await verified(next), await verified(old)], ['user-8', 'user-7'])
    // The old key is withdrawn, and the cache learns of it with the next unknown key.
    published = { keys: idp.jwks.keys.slice(1) }
    const unknown = idp.issue({}, { key: Key.generate('ES256', { keyId: 'unknown' }) })
    assert.equal(await verified(unknown), 'JsonWebTokenError')
    assert.deepEqual([await verified(next), await verified(old)], ['user-8', 'JsonWebTokenError'])
  }
  server.close()
})

test('unsafe_uses_are_refused_with_their_rule', () => {
  const refused = (rule, run, kind = RefusedUseError) => {
    assert.throws(run, error => {
      assert.ok(error instanceof kind, error.stack)
      // Code that rejects bad tokens must not hide a wrong use.
      assert.equal(error instanceof JsonWebTokenError, kind === RefusedTokenError)
      assert.deepEqual([error.rule, error.name], [rule, kind.name])
      assert.ok(!error.message.includes('shhhhh'))
      return true
    })
  }
  const token = original.sign({ page: '/' }, secret)
  refused('none', () => jwt.sign({}, '', { algorithm: 'none' }))
  refused('none', () => jwt.verify(original.sign({}, '', { algorithm: 'none' }), '', { algorithms: ['none'] }))
  refused('mixed-algorithms', () => jwt.verify(token, secret, { algorithms: ['HS256', 'RS256'] }))
  refused('weak-secret', () => jwt.sign({}, 'shhhhh'))
  refused('weak-secret', () => jwt.verify(original.sign({}, 'shhhhh'), 'shhhhh'))
  const small = generateKeyPairSync('rsa', { modulusLength: 1024, ...pems })
  const weak = { algorithm: 'RS256', allowInsecureKeySizes: true }
  refused('weak-rsa', () => jwt.sign({}, small.privateKey, weak))
  const old = original.sign({}, small.privateKey, weak)
  refused('weak-rsa', () => jwt.verify(old, small.publicKey))
  jwt.verify(old, small.publicKey, { allowInsecureKeySizes: true })
  jwt.verify(jwt.sign({}, 'shhhhh', { allowInsecureKeySizes: true }), 'shhhhh', { allowInsecureKeySizes: true })
  for (const payload of ['{"a":1,"b":{"c":1},"a":2}', '{"a":[{"c":1,"\\u0063":2}]}']) {
    refused('strict-token', () => jwt.verify(original.sign(payload, secret), secret), RefusedTokenError)
  }
  // The token chooses an algorithm for which the secret is too short. The secret is long enough for another.
  const short = 'a secret of 41 bytes, too short for HS512'
  const strong = original.sign({}, short, { algorithm: 'HS512' })
  refused('weak-secret', () => jwt.verify(strong, short), RefusedTokenError)
  refused('weak-secret', () => jwt.verify(strong, short, { algorithms: ['HS256', 'HS512'] }), RefusedTokenError)
  refused('weak-secret', () => jwt.verify(strong, short, { algorithms: ['HS512'] }))
  jwt.verify(original.sign('{"a":[{"c":":"},{"c":","}],"b":"a\\"{"}', secret), secret)
})

test('header_members_are_written_as_by_jsonwebtoken', () => {
  const headers = [
    { x5t: 'dGh1bWI' },
    { x5c: ['AQID'], nonce: 'n-1' },
    { nonce: 'n-2', own: { a: [1, null], 1: new Date(0) }, none: undefined, call: () => {} },
    { jku: 'https://id.example/keys', typ: 'own+jwt', kid: 'k', cty: 'JWT' },
    { typ: undefined, toString: 'own' },
    { own: Number.NaN, other: '"' }
  ]
  // Twice, so that a cached issuer does not add members of another call.
  for (const header of [...headers, {}, ...headers, {}]) {
    const [own, other] = [jwt, original].map(one => {
      return original.decode(one.sign({ a: 1 }, secret, { header }), { complete: true }).header
    })
    assert.deepEqual(own, other)
    jwt.verify(jwt.sign({ a: 1 }, secret, { header }), secret)
    original.verify(jwt.sign({ a: 1 }, secret, { header }), secret)
  }
  // The caller may use one object for several tokens.
  const header = { nonce: 'n-1' }
  jwt.sign({}, secret, { header })
  header.nonce = 'n-2'
  assert.equal(jwt.decode(jwt.sign({}, secret, { header }), { complete: true }).header.nonce, 'n-2')
})

test('header_members_that_jeton_decides_are_refused', async () => {
  const { d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  for (const [header, why] of [
    [{ crit: ['own'] }, /"crit" .*: the list of extensions that the token uses decides it$/],
    [{ b64: false }, /"b64" .*: the setting for an unencoded payload decides it$/],
    [{ enc: 'A256GCM' }, /"enc" .*: the encryption of the content decides it$/],
    [{ jwk: { kty: 'EC', d } }, /jwk/],
    [{ own: 'x'.repeat(20_000) }, /header/],
    [{ typ: null }, /"typ" must be a string$/],
    [{ kid: 7 }, /"kid" must be a string$/]
  ]) {
    jwt.sign({}, secret)
    for (const error of [
      outcomeOf(() => jwt.sign({}, secret, { header })),
      await new Promise(resolve => jwt.sign({}, secret, { header }, resolve))
    ]) {
      assert.ok(error instanceof RefusedUseError, `${error}`)
      assert.equal(error.rule, 'header-member')
      assert.match(error.message, why)
      assert.ok(!error.message.includes(d))
    }
  }
})

/** The values of sdk/testdata/traps.json that JSON cannot hold. */
const special = {
  $regexp: text => new RegExp(text),
  $sticky: text => new RegExp(text, 'y'),
  $set: list => new Set(list),
  $number: text => Number(text),
  $bytes: text => Buffer.from(text)
}

function valueOf(value) {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  const [name] = Object.keys(value)
  if (name in special) return special[name](value[name])
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, valueOf(one)]))
}

test('options_that_jsonwebtoken_misreads_are_refused', async () => {
  const { refused, fine } = JSON.parse(readFileSync(new URL('../../testdata/traps.json', import.meta.url), 'utf8'))
  let count = 0
  for (const { claims, node, rule } of refused) {
    if (node === undefined) continue
    const token = original.sign(claims, secret)
    const found = outcomeOf(() => jwt.verify(token, secret, valueOf(node)))
    assert.ok(found instanceof RefusedUseError, JSON.stringify(node))
    assert.ok(!(found instanceof JsonWebTokenError), JSON.stringify(node))
    assert.equal(found.rule, rule, JSON.stringify(node))
    const error = await new Promise(resolve => jwt.verify(token, secret, valueOf(node), resolve))
    assert.equal(error.rule, rule)
    count++
  }
  assert.ok(count > 35)
  const ofDecode = refused.filter(({ node_decode }) => node_decode !== undefined)
  assert.ok(ofDecode.length > 5)
  for (const { claims, node_decode, rule } of ofDecode) {
    const found = outcomeOf(() => jwt.decode(original.sign(claims, secret), valueOf(node_decode)))
    assert.ok(found instanceof RefusedUseError, JSON.stringify(node_decode))
    assert.equal(found.rule, rule, JSON.stringify(node_decode))
  }
  for (const { claims, node_decode } of fine) {
    if (node_decode === undefined) continue
    const token = original.sign(claims, secret)
    assert.deepEqual(jwt.decode(token, valueOf(node_decode)), original.decode(token, valueOf(node_decode)))
  }
  for (const { claims, node } of fine) {
    if (node === undefined) continue
    const found = jwt.verify(original.sign(claims, secret), secret, valueOf(node))
    for (const [name, value] of Object.entries(claims)) assert.deepEqual(found[name], value)
  }
  const token = jwt.sign({}, secret)
  const hint = '"algorithms" is not an option of decode, which verifies nothing: use verify'
  assert.equal(outcomeOf(() => jwt.decode(token, { algorithms: ['HS256'] })).message, hint)
  for (const options of [7, 'HS256', [], new Map(), new (class Options {})()]) {
    assert.equal(outcomeOf(() => jwt.verify(token, secret, options)).rule, 'option')
    assert.equal(outcomeOf(() => jwt.decode(token, options)).rule, 'option')
  }
  for (const options of [{ expiresIn: '3600' }, { notBefore: '60' }]) {
    assert.equal(outcomeOf(() => jwt.sign({}, secret, options)).rule, 'option')
  }
  for (const options of [undefined, null, {}, { issuer: undefined }]) jwt.verify(token, secret, options)
})

/** Returns the error of a call. */
function outcomeOf(run) {
  try {
    run()
  } catch (error) {
    return error
  }
  assert.fail('the call succeeds')
}

test('payload_is_the_bytes_that_were_verified', () => {
  const key = Key.fromSecret(secret, { algorithm: 'HS256' })
  // In base64url, it would be other claims.
  const raw = Buffer.from('{"sub":"admin"}').toString('base64url')
  const unencoded = new Issuer({ key, format: 'jws', unencoded: true }).issueBytes(raw)
  assert.equal(jwt.verify(unencoded, secret), raw)
  assert.equal(jwt.verify(unencoded, secret, { complete: true }).payload, raw)
  assert.equal(jwt.decode(unencoded), raw)
  const signed = new Issuer({ key, format: 'jws' })
  assert.equal(outcomeOf(() => jwt.verify(signed.issueBytes(Buffer.from([0xff])), secret)).rule, 'strict-token')
  // `iat` 0 is a time, and not a missing one.
  const old = signed.issueBytes('{"iat":0}')
  assert.ok(outcomeOf(() => jwt.verify(old, secret, { maxAge: '1h' })) instanceof TokenExpiredError)
})
