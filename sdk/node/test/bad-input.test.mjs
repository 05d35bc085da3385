import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'

import { Issuer, JetonError, Key, KeySet, RemoteKeySet, Verifier } from 'jeton'

const setting = { issuer: 'https://id.example', audience: 'api' }
const key = Key.generate('HS256')
const issuer = new Issuer({ key, ...setting, lifetime: '1h' })
const verifier = new Verifier({ keys: key, ...setting })
const token = issuer.issue({ sub: 'user-7' })

/** Requires an error of this library with one of these codes. */
function fails(run, ...codes) {
  assert.throws(run, error => {
    assert.ok(error instanceof JetonError, `${error?.stack}`)
    assert.ok(codes.includes(error.code), error.code)
    return true
  })
}

test('token_that_is_not_a_string_is_rejected', () => {
  for (const value of [undefined, null, 7, {}, [], [token], Symbol('t'), 7n, new String(token), Buffer.from(token)]) {
    fails(() => verifier.verify(value), 'TOKEN_MALFORMED')
  }
})

test('token_with_other_characters_is_rejected', () => {
  // A Latin-1 reader would drop the high byte of these characters and accept the token.
  for (const at of [5, token.length - 5]) {
    const unit = token.charCodeAt(at)
    for (const high of [0x100, 0x1000, 0xd800, 0xdc00, 0xff00]) {
      const changed = token.slice(0, at) + String.fromCharCode(unit + high) + token.slice(at + 1)
      fails(() => verifier.verify(changed), 'TOKEN_MALFORMED', 'TOKEN_INVALID_SIGNATURE')
    }
  }
  for (const text of ['', '.', '..', '\ud800', `${token}\0`, `\ufeff${token}`, `${token}\u00e9`, ' '.repeat(50)]) {
    fails(() => verifier.verify(text), 'TOKEN_MALFORMED', 'TOKEN_INVALID_SIGNATURE', 'TOKEN_TOO_LARGE')
  }
})

test('long_token_is_rejected', () => {
  for (const length of [1022, 1023, 1024, 8192, 100_000, 20_000_000]) {
    fails(() => verifier.verify('a'.repeat(length)), 'TOKEN_MALFORMED', 'TOKEN_TOO_LARGE')
  }
  verifier.verify(token)
})

test('tokens_around_the_buffer_size_are_read', () => {
  const large = new Verifier({ keys: key, ...setting, limits: { tokenBytes: 1_000_000 } })
  for (let length = 500; length < 640; length++) {
    const text = 'x'.repeat(length)
    assert.equal(large.verify(issuer.issue({ text })).claims.text, text)
  }
  const text = 'é'.repeat(100_000)
  assert.equal(large.verify(issuer.issue({ text })).claims.text, text)
})

test('string_of_several_parts_is_read', () => {
  const [head, ...rest] = token.split('.')
  let joined = head
  for (const part of rest) joined += '.' + part
  assert.equal(verifier.verify(joined).subject, 'user-7')
  assert.equal(verifier.verify(`___${token}___`.slice(3, -3)).subject, 'user-7')
})

test('claims_that_json_cannot_hold_are_an_error', () => {
  const circular = {}
  circular.self = circular
  const throwing = {
    toJSON() {
      throw new Error('no')
    }
  }
  for (const claims of [circular, { n: 1n }, throwing, Symbol('c'), () => 1]) {
    fails(() => issuer.issue(claims), 'CLAIMS_NOT_SERIALIZABLE')
  }
  for (const claims of [null, 7, 'text', [1], true]) fails(() => issuer.issue(claims), 'CLAIMS_NOT_AN_OBJECT')
  fails(() => issuer.issue({ text: '\ud800' }), 'CLAIMS_SYNTAX')
  fails(() => issuer.issueJson('{"a":1,"a":2}'), 'CLAIMS_DUPLICATE_MEMBER')
  fails(() => issuer.issueJson('{"a":"\ud800"}'), 'CLAIMS_NOT_SERIALIZABLE')
  fails(() => issuer.issueJson(undefined), 'CLAIMS_NOT_SERIALIZABLE')
  // As `JSON.stringify` writes them.
  assert.deepEqual(verifier.verify(issuer.issue({ a: undefined, b: NaN })).claims.b, null)
})

test('claims_that_are_no_plain_object_are_an_error', async () => {
  const signing = new Issuer({ key: Key.generate('ES256').publicKey(), ...setting, lifetime: '1h' })
  class Claims {
    sub = 'user-7'
  }
  const values = [
    new Map([['sub', 'a']]), new Set(), new Date(), new Claims(), new Error('e'), Promise.resolve(), Buffer.from('{}'),
    new Uint16Array(1), new DataView(new ArrayBuffer(2)), new ArrayBuffer(2), new URL('https://id.example'), /x/,
    runInNewContext('new Map()'), runInNewContext('new Uint16Array(1)'), runInNewContext('new (class {})()')
  ]
  for (const claims of values) {
    fails(() => issuer.issue(claims), 'CLAIMS_NOT_AN_OBJECT')
    await assert.rejects(issuer.issueAsync(claims), { code: 'CLAIMS_NOT_AN_OBJECT' })
  }
  for (const claims of values.filter(one => !Buffer.isBuffer(one))) {
    fails(() => signing.prepare(claims), 'CLAIMS_NOT_AN_OBJECT')
  }
  for (const claims of [Object.create(null), runInNewContext('({})'), runInNewContext('Object.create(null)')]) {
    claims.sub = 'user-7'
    assert.equal(verifier.verify(issuer.issue(claims)).subject, 'user-7')
  }
})

test('bytes_of_another_realm_are_bytes', () => {
  const signing = new Issuer({ key: Key.generate('ES256').publicKey(), format: 'jws' })
  for (const bytes of [Buffer.from('hello'), runInNewContext('Uint8Array.from([104, 101, 108, 108, 111])')]) {
    assert.match(signing.prepare(bytes).message.toString(), /\.aGVsbG8$/)
    const secret = runInNewContext('new Uint8Array(64).fill(7)')
    assert.equal(Key.fromSecret(secret, { algorithm: 'HS256' }).algorithm, 'HS256')
  }
  const der = Uint8Array.from(Key.generate('ES256').toDer())
  const foreign = runInNewContext('Uint8Array.from(bytes)', { bytes: [...der] })
  assert.equal(Key.import(foreign).algorithm, 'ES256')
  fails(() => Key.import(new Map()), 'INVALID_OPTION')
  fails(() => Key.import(new Uint16Array(4)), 'INVALID_OPTION')
})

test('claim_names_of_prototypes_stay_claims', () => {
  const json = '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"toString":1}'
  const { claims } = verifier.verify(issuer.issueJson(json))
  assert.ok(Object.hasOwn(claims, '__proto__'))
  assert.equal(claims.admin, undefined)
  assert.equal({}.admin, undefined)
  assert.equal(Object.getPrototypeOf(claims), Object.prototype)
  fails(() => new Issuer({ key, lifetime: 60, toString: 'x' }), 'INVALID_OPTION')
  fails(() => new Issuer({ key, ...JSON.parse('{"__proto__":1}') }), 'INVALID_OPTION')
})

test('numbers_above_2_53_are_not_rounded', () => {
  const open = { keys: key, ...setting }
  for (const number of ['9007199254740993', '-9007199254740992', '123456789012345678901234567890']) {
    const text = issuer.issueJson(`{"id":${number},"note":"id: ${number} \\" ${number}","deep":[{"n":${number}}]}`)
    fails(() => verifier.verify(text), 'TOKEN_CLAIMS_SHAPE')
    assert.match(verifier.verifyJson(text).json, new RegExp(number))
    const { claims } = new Verifier({ ...open, largeNumbers: 'bigint' }).verify(text)
    assert.equal(claims.id, BigInt(number))
    assert.equal(claims.deep[0].n, BigInt(number))
    assert.equal(claims.note, `id: ${number} " ${number}`)
  }
  fails(() => verifier.verify(issuer.issueJson('{"n":1e400}')), 'TOKEN_CLAIMS_SHAPE')
  for (const [json, value] of [
    ['9007199254740991', 9007199254740991],
    ['0.12345678901234567890', 0.12345678901234568],
    ['"9007199254740993"', '9007199254740993'],
    ['"bigint:9007199254740993"', 'bigint:9007199254740993']
  ]) {
    const text = issuer.issueJson(`{"n":${json}}`)
    for (const largeNumbers of ['reject', 'bigint']) {
      assert.equal(new Verifier({ ...open, largeNumbers }).verify(text).claims.n, value)
    }
  }
})

test('closed_handle_is_an_error', async () => {
  const own = Key.generate('ES256')
  const issuing = new Issuer({ key: own, lifetime: 60 })
  const verifying = new Verifier({ keys: own, anyIssuer: true, anyAudience: true })
  const found = issuing.issue()
  const pending = issuing.issueAsync()
  own.close()
  own.close()
  fails(() => own.algorithm, 'ARGUMENT_HANDLE')
  fails(() => new Issuer({ key: own, lifetime: 60 }), 'ARGUMENT_HANDLE')
  // They hold their own reference to the key.
  verifying.verify(issuing.issue())
  issuing.close()
  fails(() => issuing.issue(), 'ARGUMENT_HANDLE')
  fails(() => issuing.issueBytes('x'), 'ARGUMENT_HANDLE')
  await assert.rejects(issuing.issueAsync(), { code: 'ARGUMENT_HANDLE' })
  verifying.verify(await pending)
  verifying[Symbol.dispose]()
  fails(() => verifying.verify(found), 'ARGUMENT_HANDLE')
  const set = new KeySet([Key.generate('ES256')])
  set.close()
  fails(() => set.ids, 'ARGUMENT_HANDLE')
})

test('buffers_that_are_detached_or_shared_are_safe', () => {
  const jws = new Issuer({ key, format: 'jws' })
  const bytes = new Uint8Array(new ArrayBuffer(64))
  structuredClone(bytes, { transfer: [bytes.buffer] })
  fails(() => jws.issueBytes(bytes), 'ARGUMENT_NULL')
  fails(() => Key.fromSecret(bytes, { algorithm: 'HS256' }), 'ARGUMENT_NULL')
  const shared = new Uint8Array(new SharedArrayBuffer(64)).fill(7)
  const signed = jws.issueBytes(shared)
  assert.deepEqual(new Verifier({ keys: key, format: 'jws' }).verifyBytes(signed), Buffer.from(shared))
  const part = Buffer.from('a text in a larger buffer').subarray(2, 6)
  assert.equal(new Verifier({ keys: key, format: 'jws' }).verifyBytes(jws.issueBytes(part)).toString(), 'text')
  for (const value of [new Uint16Array(4), new DataView(new ArrayBuffer(4)), {}, null, 7, undefined, [1]]) {
    fails(() => jws.issueBytes(value), 'INVALID_OPTION')
  }
})

test('bytes_that_change_during_a_call_are_copied_first', async () => {
  const jws = new Issuer({ key, format: 'jws' })
  const bytes = Buffer.from('before')
  const pending = jws.issueBytesAsync(bytes)
  bytes.write('after!')
  const verifying = new Verifier({ keys: key, format: 'jws' })
  assert.equal((await verifying.verifyBytesAsync(await pending)).toString(), 'before')
})

test('options_are_checked', () => {
  const options = [
    { key: {} }, { key: key, clock: {} }, { key, lifetime: -1 }, { key, lifetime: 1.5 }, { key, lifetime: '15 m' },
    { key, lifetime: '15M' }, { key, issuer: 7 }, { key, issuer: '\ud800' }, { key, audience: [7] }, { key, lifetme: 5 },
    { key, withoutExpiry: 'yes' }, { key, detached: true }, null, [], 'text', 7
  ]
  for (const one of options) fails(() => new Issuer(one), 'INVALID_OPTION')
  for (const one of [{ keys: 7 }, { keys: [7] }, { keys: key }, { keys: key, anyIssuer: true }]) {
    fails(() => new Verifier(one), 'INVALID_OPTION')
  }
  fails(() => new Verifier({ keys: key, ...setting, limits: { tokenByte: 1 } }), 'INVALID_OPTION')
  fails(() => new Verifier({ keys: key, ...setting, largeNumbers: 'round' }), 'INVALID_OPTION')
  fails(() => new Verifier({ keys: key, ...setting, schema: {} }), 'INVALID_OPTION')
  fails(() => Key.fromSecret('\ud800', { algorithm: 'HS256' }), 'INVALID_OPTION')
  fails(() => Key.fromSecret('short', { algorithm: 'HS256' }), 'KEY_TOO_WEAK')
  fails(() => Key.generate('none'), 'INVALID_OPTION')
})

test('argument_that_an_issuer_does_not_take_is_an_error', async () => {
  const wrong = { code: 'INVALID_OPTION', message: /^issue\w*: .*`headers`.* constructor of Issuer$/ }
  const options = { headers: { nonce: 'n' } }
  const bytes = new Issuer({ key, format: 'jws' })
  assert.throws(() => issuer.issue({}, options), wrong)
  assert.throws(() => issuer.issueJson('{}', options), wrong)
  assert.throws(() => bytes.issueBytes('a', options), wrong)
  await assert.rejects(issuer.issueAsync({}, options), wrong)
  await assert.rejects(bytes.issueBytesAsync('a', options), wrong)
  await assert.rejects(issuer.issueWith({}, () => new Uint8Array(), options), wrong)
  assert.throws(() => issuer.prepare({}, options), { code: 'INVALID_OPTION', message: /^prepare: / })
  verifier.verify(issuer.issue({}, undefined))
})

test('messages_contain_no_tokens_or_keys', () => {
  const secret = 'c2VjcmV0LXRoYXQtbXVzdC1ub3QtYmUtc2Vlbg'
  for (const run of [
    () => verifier.verify(`${token.slice(0, -4)}AAAA`),
    () => verifier.verify(secret),
    () => Key.import(secret),
    () => Key.import({ kty: 'oct', k: secret, alg: secret }),
    () => Key.import(Buffer.from(secret), { password: secret, keyID: secret })
  ]) {
    assert.throws(run, ({ message, stack }) => {
      assert.ok(!message.includes(secret.slice(0, 8)) && !stack.includes(secret))
      return true
    })
  }
})

test('a_thousand_concurrent_calls_get_their_own_results', async () => {
  const rsa = new Issuer({ key: Key.generate('RS256'), ...setting, lifetime: 60 })
  const calls = Array.from({ length: 1000 }, (_, n) => issuer.issueAsync({ n }))
  const tokens = await Promise.all(calls)
  tokens.forEach((one, n) => assert.equal(verifier.verify(one).claims.n, n))
  const failing = Array.from({ length: 1000 }, () => rsa.issueAsync(null).catch(error => error.code))
  assert.deepEqual(new Set(await Promise.all(failing)), new Set(['CLAIMS_NOT_AN_OBJECT']))
})

test('handles_are_collected', { skip: !globalThis.gc }, async () => {
  for (let i = 0; i < 3_000; i++) {
    const own = Key.generate('HS256')
    new Verifier({ keys: own, anyIssuer: true, anyAudience: true })
    if (i % 1000 === 0) await new Promise(setImmediate)
  }
  globalThis.gc()
  await new Promise(setImmediate)
  const before = process.memoryUsage.rss()
  for (let i = 0; i < 3_000; i++) {
    const own = Key.generate('HS256')
    new Verifier({ keys: own, anyIssuer: true, anyAudience: true })
    if (i % 1000 === 0) {
      globalThis.gc()
      await new Promise(setImmediate)
    }
  }
  const grown = process.memoryUsage.rss() - before
  assert.ok(grown < 30_000_000, `${grown} bytes`)
})

const script = new URL('worker.fixture.mjs', import.meta.url)

test('workers_issue_and_verify_at_once', async () => {
  const secret = 'a secret of the tests, for HS256, of 32 bytes'
  const run = () => {
    return new Promise((resolve, reject) => {
      const worker = new Worker(script, { workerData: { secret, count: 2000 } })
      worker.on('message', resolve)
      worker.on('error', reject)
    })
  }
  assert.deepEqual(await Promise.all([run(), run(), run(), run()]), [2000, 2000, 2000, 2000])
})

test('terminated_worker_does_not_affect_others', async () => {
  const secret = 'a secret of the tests, for HS256, of 32 bytes'
  for (let i = 0; i < 8; i++) {
    const worker = new Worker(script, { workerData: { secret, count: Infinity } })
    await new Promise(resolve => worker.once('online', resolve))
    await new Promise(resolve => setTimeout(resolve, 60 + 7 * i))
    await worker.terminate()
  }
  verifier.verify(token)
})

test('messages_name_options_of_this_library', () => {
  const remote = new RemoteKeySet({ address: 'https://id.example/jwks.json' })
  const messages = [
    [() => new Verifier({ keys: key, anyAudience: true }), 'option `issuer`: required unless `anyIssuer` is set'],
    [() => new Issuer({ key, format: 'jws', lifetime: 60 }), 'option `lifetime`: does not apply to a JWS'],
    [() => new Issuer({ key, type: 7 }), 'option `type`: not a string'],
    [
      () => new Verifier({ keys: Key.generate('v4.local'), anyIssuer: true, anyAudience: true, type: 'x' }),
      'option `type`: does not apply to a PASETO'
    ],
    [
      () => new Verifier({ keys: remote, decryption: key, anyIssuer: true, anyAudience: true }),
      'option `decryption`: not used with a remote key set'
    ],
    [() => new RemoteKeySet({}), 'option `address`: pass either `address` or `issuer`']
  ]
  for (const [create, message] of messages) assert.throws(create, { code: 'INVALID_OPTION', message })
})
