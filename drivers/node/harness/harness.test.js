import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'

import { Driver } from './subject.js'

const folder = new URL('.', import.meta.url)
const values = [{ jti: 'x1' }, { jti: 'é' }, {}]
const [first, second, third] = values.map(value => JSON.stringify(value))
const lastBytes = ['1'.charCodeAt(0), 0xa9, 1]

const prepare = (operation, more) => ({
  op: 'prepare',
  contract: operation,
  format: 'jwt',
  alg: 'HS256',
  enc: null,
  key_handling: 'prepared',
  keys: { private: { kty: 'oct', k: 'AAAA' }, public: null, paserk: null },
  claims: { name: 'standard', values },
  policy: { issuer: 'i', audience: 'a' },
  ...more
})
const jwe = { format: 'jwe', alg: 'dir', enc: 'A128GCM' }
const run = (iterations, threads = 1) => ({ op: 'run', iterations, threads })

let driver
beforeEach(() => (driver = new Driver('fake.driver.js', folder)))
afterEach(() => driver.close())

test('hello reports the driver and its offers', async () => {
  const hello = await driver.get({ op: 'hello', protocol: 1 })
  assert.deepEqual([hello.protocol, hello.library, hello.language], [1, 'fake', 'node'])
  assert.deepEqual(hello.counts, [])
  assert.deepEqual(hello.offers[1], {
    ...jwe,
    contracts: ['encrypt', 'decrypt', 'round-trip'],
    key_handling: ['prepared', 'parsed-per-call'],
    key_text: []
  })
})

test('invalid request gets an error and the next one is answered', async () => {
  for (const [request, kind] of [
    ['nonsense', 'invalid'],
    ['[]', 'invalid'],
    [{ op: 'dance' }, 'invalid'],
    [{ op: 'hello', protocol: 2 }, 'unsupported'],
    [{ op: 'prepare' }, 'unsupported'],
    [{ op: 'token', index: 0 }, 'invalid'],
    [{ op: 'verify', token: 'x' }, 'invalid'],
    [run(1), 'invalid'],
    ['x'.repeat(8 * 1024 * 1024 + 1), 'invalid'],
    [prepare('sign', { alg: 'ES256' }), 'unsupported'],
    [prepare('sign', { enc: 'A128GCM' }), 'unsupported'],
    [prepare('sign', { key_handling: 'in-a-vault' }), 'unsupported'],
    [prepare('sign', { keys: { private: {} } }), 'unsupported'],
    [prepare('sign', { keys: {} }), 'invalid'],
    [prepare('sign', { claims: { values: [] } }), 'invalid'],
    [prepare('load-key', { key_handling: 'pem' }), 'unsupported'],
    [prepare('load-key', { key_handling: 'jwk' }), 'invalid']
  ]) {
    const { ok, error } = await driver.ask(request)
    assert.deepEqual([ok, error], [false, kind], JSON.stringify(request).slice(0, 80))
  }
  await driver.get({ op: 'hello', protocol: 1 })
})

test('failed prepare leaves nothing prepared', async () => {
  await driver.get(prepare('sign'))
  await driver.ask(prepare('sign', { alg: 'ES256' }))
  assert.equal((await driver.ask(run(1))).error, 'invalid')
})

const made = [first, second, third].map(token => token.length + '}'.charCodeAt(0))
const lines = {
  sign: { parts: made },
  verify: { parts: lastBytes, tokens: [first, second, third] },
  'verify-signature': { parts: [1, 1, 1], tokens: [first, second, third] },
  'round-trip': { parts: made.map((part, index) => part + lastBytes[index]) },
  'generate-key': { parts: [1, 1, 1] },
  'load-key': {
    parts: [1, 1, 1],
    key_handling: 'jwk',
    key_text: { form: 'jwk', private: '{"kty":"oct"}', public: null }
  },
  encrypt: { parts: made, ...jwe },
  decrypt: { parts: lastBytes, tokens: [first, second, third], ...jwe }
}
for (const [operation, { parts, ...more }] of Object.entries(lines)) {
  test(`checksum of ${operation} is correct on one and on three threads`, async () => {
    await driver.get(prepare(operation, more))
    // Five operations cycle through the pool of three.
    const sum = 2 * parts[0] + 2 * parts[1] + parts[2]
    const one = await driver.get(run(5))
    assert.equal(one.checksum, sum)
    assert.ok(one.elapsed_ns > 0)
    assert.deepEqual([one.bytes, one.allocs], [null, null])
    assert.equal((await driver.get(run(5, 3))).checksum, 3 * sum)
  })
}

test('asynchronous round trip has the same checksum', async () => {
  await driver.get(prepare('round-trip', jwe))
  assert.equal((await driver.get(run(1))).checksum, made[0] + lastBytes[0])
})

test('token is made from the claims at its index', async () => {
  for (const request of [prepare('sign'), prepare('round-trip'), prepare('encrypt', jwe)]) {
    await driver.get(request)
    assert.equal((await driver.get({ op: 'token', index: 1 })).token, second)
    for (const index of [3, -1, 0.5, '0']) {
      assert.equal((await driver.ask({ op: 'token', index })).error, 'invalid')
    }
  }
})

test('verify exception of the library is a one-line rejection', async () => {
  for (const more of [{}, jwe]) {
    await driver.get(prepare(more === jwe ? 'decrypt' : 'verify', { ...more, tokens: ['bad'] }))
    const answer = await driver.get({ op: 'verify', token: 'bad' })
    assert.deepEqual([answer.accepted, answer.reason], [false, 'bad token'])
    for (const threads of [1, 2]) {
      assert.equal((await driver.ask(run(1, threads))).error, 'failed')
    }
  }
})

test('verify claims that JSON cannot express are null', async () => {
  const deep = '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000)
  await driver.get(prepare('verify', { tokens: [deep] }))
  for (const token of [deep, '{"a":"\\ud800"}', '{"a":["x\\\\\\udfff"]}']) {
    const answer = await driver.get({ op: 'verify', token })
    assert.deepEqual([answer.accepted, answer.claims], [true, null], token.slice(0, 40))
  }
  for (const token of ['{"a":"\\ud83d\\ude00"}', '{"a":"\\\\ud800"}']) {
    assert.deepEqual((await driver.get({ op: 'verify', token })).claims, JSON.parse(token))
  }
})

test('key is loaded once if prepared, per call if parsed', async () => {
  const claims = { values: [{ count: true }] }
  for (const [key_handling, ...loads] of [
    ['prepared', 1, 1],
    ['parsed-per-call', 2, 3]
  ]) {
    await driver.get(prepare('sign', { key_handling, claims }))
    for (const expected of loads) {
      const { token } = await driver.get({ op: 'token', index: 0 })
      assert.equal(JSON.parse(token).loads, expected)
    }
  }
})

test('run with numbers out of range is invalid', async () => {
  for (const request of [run(0), run(1.5), run(1, 0), run(1, 1025), run('1')]) {
    await driver.get(prepare('sign'))
    assert.equal((await driver.ask(request)).error, 'invalid')
  }
})

test('bye gets an answer', async () => {
  await driver.get({ op: 'bye' })
  await assert.rejects(driver.ask({ op: 'hello', protocol: 1 }))
})
