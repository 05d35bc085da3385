// The tests that all Node drivers share. The driver is started as the lab starts it. Each of its
// offers is tested with the tokens of drivers/testdata, which other code made.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const file = new URL('../../testdata/tokens.json', import.meta.url)
const data = JSON.parse(readFileSync(file, 'utf8'))

/** A driver's process, which gets one request at a time. */
export class Driver {
  #process
  #lines

  constructor(script, folder) {
    const stdio = ['pipe', 'pipe', 'inherit']
    this.#process = spawn(process.execPath, [script], { cwd: fileURLToPath(folder), stdio })
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  /** Sends a request, or a raw line. */
  async ask(request) {
    const line = typeof request === 'string' ? request : JSON.stringify(request)
    this.#process.stdin.write(line + '\n')
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the driver ended')
    return JSON.parse(value)
  }

  /** Sends a request and requires an answer with `ok`. */
  async get(request) {
    const answer = await this.ask(request)
    assert.equal(answer.ok, true, `${request.op}: ${answer.reason}`)
    return answer
  }

  /** Prepares the operation and runs it. Returns whether that succeeded. */
  async does(prepare, iterations = 1) {
    const { ok } = await this.ask(prepare)
    return ok && (await this.ask({ op: 'run', iterations, threads: 1 })).ok
  }

  close() {
    this.#process.kill()
  }
}

/**
 * Defines the tests of the driver beside `from`, the `import.meta.url` of its test file.
 * `takesEmptyKeys` matches the algorithms for which the library is known to accept an empty key.
 */
export async function testSubject(from, { takesEmptyKeys = /^$/ } = {}) {
  const folder = new URL('.', from)
  const offers = manifestOffers(readFileSync(new URL('driver.toml', folder), 'utf8'))
  let driver
  before(() => (driver = new Driver('driver.js', folder)))
  after(() => driver.close())

  test('hello offers what the manifest says', async () => {
    const hello = await driver.get({ op: 'hello', protocol: 1 })
    assert.deepEqual(hello.counts, [])
    const named = offer => [offer.format, offer.alg, offer.enc].join(' ')
    const sorted = list => list.toSorted((a, b) => named(a).localeCompare(named(b)))
    assert.deepEqual(sorted(hello.offers), sorted(offers))
    const manifest = readFileSync(new URL('driver.toml', folder), 'utf8')
    for (const member of ['library', 'version']) {
      assert.match(manifest, new RegExp(`^${member} = "${hello[member]}"$`, 'm'))
    }
  })

  for (const offer of offers) {
    const name = [offer.format, offer.alg, offer.enc].filter(Boolean).join(' ')
    const { row, exact } = rowFor(offer)
    test(name, { skip: row ? false : 'drivers/testdata has no key for this offer' }, async t => {
      for (const operation of offer.contracts) {
        const handlings = operation === 'load-key' ? offer.key_text : offer.key_handling
        // What does not depend on the content encryption is tested with one.
        if (operation === 'generate-key' && !exact) continue
        for (const handling of handlings) {
          if (handling === 'parsed-per-call' && !exact) continue
          await t.test(`${operation}, ${handling}`, () => {
            return checks[operation]({ driver, offer, row, exact, operation, handling, takesEmptyKeys })
          })
        }
      }
    })
  }

  test('two threads double the checksum', async () => {
    const [offer] = offers
    const { row } = rowFor(offer)
    const verify = { offer, row, operation: 'verify', handling: 'prepared' }
    await driver.get(prepareOf(verify))
    const { checksum } = await driver.get({ op: 'run', iterations: 4, threads: 2 })
    assert.equal(checksum, 2 * sumOfClaims(row, 4))
  })

  test('each of several verifiers with a cache has its own policy', async t => {
    const { extras } = await driver.get({ op: 'hello', protocol: 1 })
    if (!extras.includes('cached')) return t.skip('the library has no cache')
    const [offer] = offers
    const { row } = rowFor(offer)
    const prepare = prepareOf({ offer, row, operation: 'verify', handling: 'prepared' })
    const cached = [prepare.policy, { ...prepare.policy, audience: 'other' }].map(policy => {
      return { keys: prepare.keys, policy }
    })
    await driver.get({ ...prepare, cached })
    const [token] = row.tokens
    for (const verifier of [0, 1, 0]) {
      const { accepted } = await driver.get({ op: 'verify', token, verifier })
      assert.equal(accepted, verifier === 0)
    }
  })
}

const checks = {
  sign: makes,
  encrypt: makes,
  verify: opens,
  decrypt: opens,
  'verify-signature': opens,
  'round-trip': goesRound,
  'generate-key': getsKeys,
  'load-key': loadsKeys
}

async function makes(subject) {
  const { driver, row, operation } = subject
  await driver.get(prepareOf(subject))
  const values = claimsOf(row)
  const tokens = []
  for (const index of values.keys()) tokens.push((await driver.get({ op: 'token', index })).token)
  const { checksum } = await driver.get({ op: 'run', iterations: 3, threads: 1 })
  assertSum(checksum, [...tokens, tokens[0]])
  assert.equal((await driver.ask({ op: 'token', index: 2 })).error, 'invalid')

  const opposite = operation === 'sign' ? 'verify' : 'decrypt'
  await driver.get(prepareOf({ ...subject, operation: opposite }))
  for (const [index, token] of tokens.entries()) {
    const { accepted, claims, reason } = await driver.get({ op: 'verify', token })
    assert.ok(accepted, `rejects its own token: ${reason}`)
    assert.deepEqual(claims, values[index])
  }
  if (row.keys.private?.kty === 'oct') {
    const empty = prepareOf(subject)
    empty.keys = { ...empty.keys, private: { ...empty.keys.private, k: '' } }
    const takes = subject.takesEmptyKeys.test(row.alg)
    assert.equal(await driver.does(empty), takes, takes ? 'rejects an empty key now' : 'accepts an empty key')
  }
}

async function opens(subject) {
  const { driver, row, exact, operation } = subject
  if (!exact) return
  const decodes = operation !== 'verify-signature'
  await driver.get(prepareOf(subject))
  for (const [index, token] of row.tokens.entries()) {
    const { accepted, claims, reason } = await driver.get({ op: 'verify', token })
    assert.ok(accepted, `rejects a valid token: ${reason}`)
    assert.deepEqual(claims, decodes ? claimsOf(row)[index] : null)
  }
  for (const { what, token, by_signature } of row.reject) {
    if (!decodes && !by_signature) continue
    const { accepted, reason } = await driver.get({ op: 'verify', token })
    assert.equal(accepted, false, `accepts ${what}`)
    // Only the expiry may be wrong with it.
    if (what === 'an expired token') assert.match(reason, /expired|"exp" claim timestamp/i)
  }
  if (row.tokens.length === 0) return
  const { checksum } = await driver.get({ op: 'run', iterations: 3, threads: 1 })
  assert.equal(checksum, decodes ? sumOfClaims(row, 3) : 3)
}

async function goesRound(subject) {
  const { driver, row } = subject
  await driver.get(prepareOf(subject))
  const { token } = await driver.get({ op: 'token', index: 0 })
  const { checksum } = await driver.get({ op: 'run', iterations: 3, threads: 1 })
  assertSum(checksum - sumOfClaims(row, 3), [token, token, token])
  const expired = prepareOf(subject)
  const past = row.format.startsWith('v') ? '2020-09-13T12:26:40Z' : 1600000000
  expired.claims.values = [{ ...claimsOf(row)[0], iat: past, exp: past }]
  assert.equal(await driver.does(expired), false, 'completes a round trip with an expired token')
}

async function getsKeys(subject) {
  await subject.driver.get({ ...prepareOf(subject), keys: {} })
  const { checksum } = await subject.driver.get({ op: 'run', iterations: 2, threads: 1 })
  assert.equal(checksum, 2)
}

async function loadsKeys(subject) {
  const { driver, row, handling } = subject
  const prepare = prepareOf(subject)
  prepare.key_text = textOf(row, handling)
  await driver.get(prepare)
  const { checksum } = await driver.get({ op: 'run', iterations: 2, threads: 1 })
  assert.equal(checksum, 2)
  const half = text => text?.slice(0, text.length / 2)
  const { private: ours, public: theirs } = prepare.key_text
  prepare.key_text = { form: handling, private: half(ours), public: half(theirs) }
  assert.equal(await driver.does(prepare), false, 'loads a truncated key')
}

function prepareOf({ offer, row, operation, handling }) {
  const { format, alg, enc } = offer
  const hidesPrivate = ['verify', 'verify-signature', 'encrypt'].includes(operation)
  const keys = structuredClone(row.keys)
  if (keys.public && hidesPrivate) keys.private = null
  if (keys.public && operation === 'decrypt') keys.public = null
  if (keys.paserk?.public && hidesPrivate) delete keys.paserk.secret
  const prepare = { op: 'prepare', contract: operation, format, alg, enc, key_handling: handling, keys }
  prepare.claims = { name: 'standard', values: claimsOf(row) }
  prepare.policy = data.policy
  if (['verify', 'verify-signature', 'decrypt'].includes(operation)) prepare.tokens = row.tokens
  return prepare
}

function textOf({ keys, pem }, form) {
  if (form === 'pem') return { form, ...pem }
  if (form === 'jwk') {
    const text = jwk => jwk && JSON.stringify(jwk)
    return { form, private: text(keys.private), public: text(keys.public) }
  }
  const { local, secret, public: theirs = null } = keys.paserk
  return { form, private: local ?? secret, public: theirs }
}

/** Returns the row of an offer, or one whose keys fit too. */
function rowFor({ format, alg, enc }) {
  const of = data.rows.filter(row => row.format === format && row.alg === alg)
  const exact = of.find(row => row.enc === enc)
  return { row: exact ?? of[0], exact: exact !== undefined }
}

function claimsOf({ format }) {
  return structuredClone(format.startsWith('v') ? data.paseto_claims : data.claims)
}

function sumOfClaims(row, iterations) {
  const values = claimsOf(row)
  let sum = 0
  for (let i = 0; i < iterations; i++) sum += values[i % values.length].jti.charCodeAt(15)
  return sum
}

/** Two tokens of the same claims differ only in their last base64url characters. */
function assertSum(sum, tokens) {
  const lengths = tokens.reduce((all, token) => all + token.length, 0)
  const least = lengths + tokens.length * '-'.charCodeAt(0)
  const most = lengths + tokens.length * 'z'.charCodeAt(0)
  assert.ok(sum >= least && sum <= most, `the checksum ${sum} is not within ${least} and ${most}`)
}

/** Reads the lines of `offers` without a TOML parser: each value is JSON, except for comments and a comma. */
function manifestOffers(toml) {
  const lines = toml.replace(/^\s*#.*$/gm, '').split('[[offers]]').slice(1)
  return lines.flatMap(text => {
    const members = [...text.matchAll(/^(\w+) = (\[[^\]]*\]|"[^"]*")/gm)]
    const { format, algs = [null], encs = [null], contracts: operations, key_handling, key_text = [] } =
      Object.fromEntries(members.map(([, name, value]) => {
        return [name, JSON.parse(value.replace(/,\s*\]/, ']'))]
      }))
    return algs.flatMap(alg =>
      encs.map(enc => ({ format, alg, enc, contracts: operations, key_handling, key_text }))
    )
  })
}
