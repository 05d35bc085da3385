// Tests each feature of the library once.
import assert from 'node:assert/strict'
import { createHash, createPrivateKey, createSecretKey, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'

import { FixedClock, Issuer, Key, KeySet, Verifier } from 'jeton'
import * as valibot from 'valibot'
import * as zod from 'zod'

const setting = { issuer: 'https://id.example', audience: 'api' }

test('keys_are_generated_and_exported', () => {
  for (const algorithm of ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'PS256']) {
    const key = Key.generate(algorithm, { keyId: 'k' })
    assert.equal(key.algorithm, algorithm)
    assert.equal(key.kind, 'private')
    assert.equal(key.id, 'k')
    const jwk = key.toJwk()
    assert.equal(jwk.alg, algorithm)
    assert.equal(jwk.d, undefined)
    for (const form of [jwk, key.toPem(), key.toDer()]) {
      const again = Key.import(form, { algorithm })
      assert.equal(again.kind, 'public')
      assert.equal(again.thumbprint(), key.thumbprint())
    }
    assert.match(key.thumbprintUri(), /^urn:ietf:params:oauth:jwk-thumbprint:sha-256:/)
    for (const form of ['jwk', 'pem', 'der']) {
      assert.equal(Key.import(key.insecureExport(form), { algorithm }).kind, 'private')
    }
  }
  const paseto = Key.generate('v4.public')
  assert.equal(Key.import(paseto.toPaserk()).id, paseto.id)
  assert.equal(Key.generate('HS256').kind, 'symmetric')
  assert.throws(() => Key.generate('HS256').toJwk(), { code: 'KEY_TYPE_MISMATCH' })
})

test('key_objects_and_node_jwks_are_imported', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = Key.import(privateKey, { algorithm: 'ES256' })
  const token = new Issuer({ key, ...setting, lifetime: 60 }).issue()
  for (const keys of [
    Key.fromKeyObject(publicKey),
    Key.import(publicKey.export({ format: 'jwk' }), { algorithm: 'ES256' }),
    Key.import(publicKey.export({ format: 'pem', type: 'spki' })),
    [key]
  ]) {
    new Verifier({ keys, ...setting }).verify(token)
  }
  const secret = createSecretKey(Buffer.alloc(32, 7))
  const mac = Key.import(secret, { algorithm: 'HS256' })
  const same = Key.fromBase64Secret(Buffer.alloc(32, 7).toString('base64'), { algorithm: 'HS256' })
  assert.equal(mac.thumbprint(), same.thumbprint())
})

test('encrypted_private_key_needs_its_password', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const options = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'a password' }
  const pem = privateKey.export(options)
  const key = await Key.importAsync(pem, { algorithm: 'ES256', password: 'a password' })
  assert.equal(key.kind, 'private')
  await assert.rejects(Key.importAsync(pem, { password: 'another' }), { code: 'KEY_NOT_DECRYPTED' })
  assert.equal((await Key.generateAsync('RS256')).algorithm, 'RS256')
})

test('key_set_is_built_written_and_read', () => {
  const keys = ['a', 'b'].map(keyId => Key.generate('ES256', { keyId }))
  const set = new KeySet(keys)
  assert.deepEqual(set.ids, ['a', 'b'])
  const read = KeySet.import(JSON.stringify(set.toJwks()), { published: true })
  assert.deepEqual(read.ids, set.ids)
  assert.deepEqual(read.skipped, [])
  for (const key of keys) {
    const token = new Issuer({ key, ...setting, lifetime: 60 }).issue()
    assert.equal(new Verifier({ keys: read, ...setting }).verify(token).header.keyId, key.id)
  }
  const other = new Issuer({ key: Key.generate('ES256', { keyId: 'c' }), ...setting, lifetime: 60 })
  assert.throws(() => new Verifier({ keys, ...setting }).verify(other.issue()), { code: 'TOKEN_UNKNOWN_KEY' })
  assert.throws(() => new KeySet([]), { code: 'KEY_SET_EMPTY' })
})

test('headers_of_different_tokens_are_kept_apart', () => {
  const keys = ['a', 'b'].map(keyId => Key.generate('ES256', { keyId }))
  const verifier = new Verifier({ keys, ...setting })
  const other = new Verifier({ keys: new KeySet(keys), ...setting })
  const tokens = keys.map(key => new Issuer({ key, ...setting, lifetime: 60 }).issue())
  const ids = [0, 1, 1, 0, 0, 1].flatMap(n => [verifier, other].map(one => one.verify(tokens[n]).header.keyId))
  assert.deepEqual(ids, ['a', 'a', 'b', 'b', 'b', 'b', 'a', 'a', 'a', 'a', 'b', 'b'])
})

test('policy_is_enforced', () => {
  const key = Key.generate('HS256')
  const clock = new FixedClock(new Date('2027-01-15T08:00:00Z'))
  const issue = (claims, options) => new Issuer({ key, clock, ...setting, lifetime: 60, ...options }).issue(claims)
  const check = (options, token) => {
    try {
      new Verifier({ keys: key, clock, ...setting, ...options }).verify(token)
      return 'ok'
    } catch (error) {
      return error.code
    }
  }
  assert.equal(check({}, issue({})), 'ok')
  assert.equal(check({ issuer: ['x', 'y'], sharedKeys: true }, issue({})), 'TOKEN_ISSUER_MISMATCH')
  assert.equal(check({ audience: ['x', 'api'] }, issue({})), 'ok')
  assert.equal(check({ audience: 'x' }, issue({}, { audience: ['y', 'z'] })), 'TOKEN_AUDIENCE_MISMATCH')
  assert.equal(check({ required: ['sub', 'page'] }, issue({ sub: 'a' })), 'TOKEN_INVALID_CLAIMS')
  assert.equal(check({ type: 'at+jwt' }, issue({})), 'TOKEN_TYPE_MISMATCH')
  assert.equal(check({ maxAge: '1m' }, issue({}, { issuedAgo: '2m', lifetime: '5m' })), 'TOKEN_TOO_OLD')
  assert.equal(check({}, issue({ nbf: clock.seconds + 5 })), 'TOKEN_NOT_YET_VALID')
  assert.equal(check({ leeway: 10 }, issue({ nbf: clock.seconds + 5 })), 'ok')
  const endless = issue({}, { lifetime: undefined, withoutExpiry: true })
  assert.equal(check({}, endless), 'TOKEN_INVALID_CLAIMS')
  assert.equal(check({ withoutExpiry: true }, endless), 'ok')
  assert.throws(() => new Issuer({ key }).issue(), { code: 'CLAIMS_WITHOUT_EXPIRY' })
  assert.equal(check({ accessTokens: true }, issue({ sub: 'a', client_id: 'c', jti: '1' }, { accessTokens: true })), 'ok')
})

test('bytes_are_signed_detached_and_encrypted', async () => {
  const key = Key.generate('ES256')
  const content = Buffer.from('{"amount":7}')
  for (const serialization of ['compact', 'flattened', 'general']) {
    for (const detached of [false, true]) {
      const token = new Issuer({ key, format: 'jws', serialization, detached }).issueBytes(content)
      const verifier = new Verifier({ keys: key, format: 'jws', serialization })
      const found = verifier.verifyBytes(token, detached ? content : undefined)
      assert.deepEqual(found, content)
      if (detached) assert.throws(() => verifier.verifyBytes(token, Buffer.from('other')), { code: 'TOKEN_INVALID_SIGNATURE' })
    }
  }
  for (const encryption of [Key.generate('RSA-OAEP-256'), Key.generate('A256KW'), Key.generate('ECDH-ES+A128KW', { curve: 'X25519' })]) {
    const token = new Issuer({ encryption, contentEncryption: 'A128GCM' }).issueBytes('text')
    assert.equal(new Verifier({ decryption: encryption }).verifyBytes(token).toString(), 'text')
    assert.equal((await new Verifier({ decryption: [encryption] }).verifyBytesAsync(token)).toString(), 'text')
    const strict = new Verifier({ decryption: encryption, contentEncryption: 'A256GCM' })
    await assert.rejects(strict.verifyBytesAsync(token), { code: 'TOKEN_ENCRYPTION_MISMATCH' })
  }
})

test('tokens_are_encrypted_and_nested', async () => {
  const key = Key.generate('ES256', { keyId: 'signs' })
  const encryption = Key.generate('ECDH-ES', { keyId: 'decrypts' })
  const token = new Issuer({ key, encryption: encryption.publicKey(), ...setting, lifetime: 60 }).issue({ n: 1 })
  assert.equal(token.split('.').length, 5)
  const nested = new Verifier({ keys: key.publicKey(), decryption: encryption, ...setting })
  for (const verified of [nested.verify(token), await nested.verifyAsync(token)]) {
    assert.equal(verified.claims.n, 1)
    assert.equal(verified.header.algorithm, 'ES256')
    assert.equal(verified.header.keyId, 'signs')
    assert.ok(verified.expiresAt > verified.issuedAt)
    assert.equal(verified.notBefore, undefined)
  }
  await assert.rejects(nested.verifyAsync(`${token}A`), { code: /^TOKEN_/ })
  const direct = Key.generate('dir', { contentEncryption: 'A256GCM' })
  const encrypted = new Issuer({ key: direct, ...setting, lifetime: 60 }).issue({ n: 2 })
  assert.equal(new Verifier({ keys: direct, ...setting }).verify(encrypted).claims.n, 2)
})

test('paseto_is_issued_and_verified', () => {
  for (const algorithm of ['v3.local', 'v3.public', 'v4.local', 'v4.public']) {
    const key = Key.generate(algorithm)
    const bound = { footer: '{"f":1}', implicitAssertion: 'request 7' }
    const token = new Issuer({ key, ...setting, ...bound, lifetime: '1h' }).issue({ n: 1 })
    assert.ok(token.startsWith(algorithm))
    const keys = algorithm.endsWith('public') ? key.publicKey() : key
    for (const one of [keys, [keys], new KeySet([keys])]) {
      const verified = new Verifier({ keys: one, ...setting, ...bound }).verify(token)
      assert.equal(verified.claims.n, 1)
      assert.equal(verified.header.footer, bound.footer)
      assert.equal(typeof verified.claims.exp, 'string')
      assert.equal(verified.expiresAt - verified.issuedAt, 3_600_000)
    }
    const other = new Verifier({ keys, ...setting, footer: bound.footer, implicitAssertion: 'request 8' })
    const code = algorithm.endsWith('local') ? 'TOKEN_DECRYPTION_FAILED' : 'TOKEN_INVALID_SIGNATURE'
    assert.throws(() => other.verify(token), { code })
  }
})

test('remote_signer_signs_what_was_prepared', async () => {
  const own = Key.generate('ES256')
  const secret = createPrivateKey(own.insecureExport('pem'))
  const issuer = new Issuer({ key: own.publicKey(), ...setting, lifetime: 60 })
  const verifier = new Verifier({ keys: own, ...setting })
  const token = await issuer.issueWith({ n: 1 }, async prepared => {
    assert.equal(prepared.algorithm, 'ES256')
    assert.deepEqual(prepared.digest, createHash('sha256').update(prepared.message).digest())
    return { signature: sign('sha256', prepared.message, secret), form: 'der' }
  })
  assert.equal(verifier.verify(token).claims.n, 1)
  const fixed = prepared => sign('sha256', prepared.message, { key: secret, dsaEncoding: 'ieee-p1363' })
  verifier.verify(await issuer.issueWith({}, async prepared => fixed(prepared)))
  const prepared = issuer.prepare({})
  assert.throws(() => prepared.attach(Buffer.alloc(64)), { code: 'SIGNER_SIGNATURE_INVALID' })
  assert.throws(() => prepared.attach(fixed(prepared)), { code: 'PREPARED_TOKEN_USED' })
  assert.throws(() => issuer.issue(), { code: 'KEY_IS_PUBLIC' })
})

test('cache_remembers_tokens_and_still_rejects_expired_ones', () => {
  const key = Key.generate('ES256')
  const clock = new FixedClock(1_800_000_000)
  const token = new Issuer({ key, clock, ...setting, lifetime: 60 }).issue()
  const verifier = new Verifier({ keys: key, clock, ...setting, cache: 100 })
  for (let i = 0; i < 3; i++) assert.equal(verifier.verify(token).issuer, setting.issuer)
  clock.advance(60)
  assert.throws(() => verifier.verify(token), { code: 'TOKEN_EXPIRED' })
})

test('schemas_give_claims_their_type', async () => {
  const key = Key.generate('HS256')
  const issue = claims => new Issuer({ key, ...setting, lifetime: 60 }).issue(claims)
  const schemas = [
    zod.object({ page: zod.string(), visits: zod.number().int() }),
    valibot.object({ page: valibot.string(), visits: valibot.pipe(valibot.number(), valibot.integer()) }),
    claims => {
      if (typeof claims.page !== 'string' || !Number.isInteger(claims.visits)) throw new TypeError('not a visit')
      return { page: claims.page, visits: claims.visits }
    }
  ]
  for (const schema of schemas) {
    const verifier = new Verifier({ keys: key, ...setting, schema })
    const verified = verifier.verify(issue({ page: '/', visits: 7, sub: 'a' }))
    assert.deepEqual(verified.claims, { page: '/', visits: 7 })
    assert.equal(verified.subject, 'a')
    const wrong = issue({ page: 'a secret page', visits: '7' })
    for (const run of [async () => verifier.verify(wrong), () => verifier.verifyAsync(wrong)]) {
      await assert.rejects(run, error => {
        assert.equal(error.code, 'TOKEN_CLAIMS_SHAPE')
        assert.deepEqual(Object.keys(error), ['code'])
        assert.ok(!error.message.includes('secret'))
        return true
      })
    }
  }
  const later = zod.object({ page: zod.string() }).refine(async ({ page }) => page === '/')
  const verifier = new Verifier({ keys: key, ...setting, schema: later })
  assert.throws(() => verifier.verify(issue({ page: '/' })), { code: 'INVALID_OPTION' })
  assert.equal((await verifier.verifyAsync(issue({ page: '/' }))).claims.page, '/')
  await assert.rejects(verifier.verifyAsync(issue({ page: 'x' })), { code: 'TOKEN_CLAIMS_SHAPE' })
})

test('issues_of_a_schema_have_the_paths_of_members', () => {
  const key = Key.generate('HS256')
  const token = new Issuer({ key, ...setting, lifetime: 60 }).issue({ address: { city: 7 }, roles: ['a', 'a secret role'] })
  const schemas = [
    zod.object({ address: zod.object({ city: zod.string() }), roles: zod.array(zod.enum(['a'])) }),
    valibot.object({ address: valibot.object({ city: valibot.string() }), roles: valibot.array(valibot.picklist(['a'])) })
  ]
  for (const schema of schemas) {
    assert.throws(() => new Verifier({ keys: key, ...setting, schema }).verify(token), error => {
      assert.equal(error.message, 'the claims do not match the schema: address.city, roles.1')
      assert.equal(error.issues.length, 2)
      return true
    })
  }
  // A name in the claims is a claim too, and a schema may have no paths.
  for (const [issues, message] of [
    [[{ path: ['n', { key: 'm' }] }], 'the claims do not match the schema: n.m'],
    [[{ path: ['a secret\nname'] }, { path: ['x'.repeat(65)] }, { path: [{}] }], 'the claims do not match the schema'],
    [[{}, undefined, 7, { path: 'n' }], 'the claims do not match the schema']
  ]) {
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) } }
    assert.throws(() => new Verifier({ keys: key, ...setting, schema }).verify(token), { code: 'TOKEN_CLAIMS_SHAPE', message })
  }
})

test('protected_header_is_whole', async () => {
  const key = Key.generate('ES256', { keyId: 'k' })
  const headers = { x5t: 'dGh1bWI', nonce: 'n-1', own: { a: [1, null] } }
  const issuer = new Issuer({ key, ...setting, headers, lifetime: 60 })
  const expected = { alg: 'ES256', typ: 'JWT', kid: 'k', ...headers }
  const verifier = new Verifier({ keys: key, ...setting })
  const token = issuer.issue()
  for (const one of [verifier.verify(token), await verifier.verifyAsync(token), verifier.verifyJson(token)]) {
    assert.deepEqual({ ...one.protectedHeader }, expected)
  }
  // Tokens share the cached header, but not its other members.
  const other = new Issuer({ key, ...setting, headers: { nonce: 'n-2' }, lifetime: 60 }).issue()
  const [first, second] = [token, other].map(one => verifier.verify(one))
  assert.deepEqual([first, second].map(one => one.protectedHeader.nonce), ['n-1', 'n-2'])
  const encryption = Key.generate('ECDH-ES')
  const nested = new Issuer({ key, encryption, ...setting, headers, lifetime: 60 }).issue()
  const decrypting = new Verifier({ keys: key, decryption: encryption, ...setting })
  for (const one of [decrypting.verify(nested), await decrypting.verifyAsync(nested)]) {
    assert.equal(one.protectedHeader.nonce, 'n-1')
  }
  const paseto = Key.generate('v4.public')
  const found = new Verifier({ keys: paseto, ...setting }).verify(new Issuer({ key: paseto, ...setting, lifetime: 60 }).issue())
  assert.equal(found.protectedHeader, undefined)
})

test('headers_of_an_issuer_are_checked', () => {
  const key = Key.generate('ES256')
  const circular = {}
  circular.self = circular
  for (const headers of [{ alg: 'none' }, { kid: 'k' }, { typ: 'x' }, { crit: ['own'] }, [], 'text', null, { n: 1n }, circular]) {
    const create = () => new Issuer({ key, ...setting, lifetime: 60, headers })
    assert.throws(create, { code: 'INVALID_OPTION', message: /^option `headers`: / })
  }
})

test('schema_that_fails_in_any_way_is_a_mismatch', async () => {
  const key = Key.generate('HS256')
  const token = new Issuer({ key, ...setting, lifetime: 60 }).issue({ page: 'a secret page' })
  const fails = ({ page }) => {
    throw new TypeError(page)
  }
  const standard = validate => ({ '~standard': { version: 1, vendor: 'test', validate } })
  const thenable = result => ({ then: (...both) => Promise.resolve(result).then(...both) })
  for (const schema of [
    fails, async claims => fails(claims), standard(fails), standard(async claims => fails(claims)),
    standard(() => undefined), standard(() => thenable({ issues: ['no'] })), () => thenable(Promise.reject(new Error('no')))
  ]) {
    const verifier = new Verifier({ keys: key, ...setting, schema })
    await assert.rejects(verifier.verifyAsync(token), error => {
      assert.equal(error.code, 'TOKEN_CLAIMS_SHAPE')
      assert.ok(!error.stack.includes('secret'))
      return true
    })
    assert.throws(() => verifier.verify(token), { code: /^(TOKEN_CLAIMS_SHAPE|INVALID_OPTION)$/ })
  }
  const verifier = new Verifier({ keys: key, ...setting, schema: () => thenable({ page: '/' }) })
  assert.deepEqual((await verifier.verifyAsync(token)).claims, { page: '/' })
  assert.throws(() => verifier.verify(token), { code: 'INVALID_OPTION' })
})

test('large_whole_numbers_are_rejected_or_exact', () => {
  const key = Key.generate('HS256')
  const issuer = new Issuer({ key, ...setting, lifetime: 60 })
  const [strict, exact] = ['reject', 'bigint'].map(largeNumbers => new Verifier({ keys: key, ...setting, largeNumbers }))
  const read = (verifier, text) => {
    try {
      return verifier.verify(issuer.issueJson(`{"n":${text},"o":[${text},{"x": ${text}}],"m":"n5"}`)).claims
    } catch (error) {
      return error.code
    }
  }
  for (const [text, value] of [
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9007199254740993.000e0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9.007199254740993E+15', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['1e21', 10n ** 21n],
    ['-1.5e300', -15n * 10n ** 299n],
    ['12345678901234567890', 12345678901234567890n]
  ]) {
    assert.equal(read(strict, text), 'TOKEN_CLAIMS_SHAPE', text)
    const { n, o, m } = read(exact, text)
    assert.deepEqual([n, o, m], [value, [value, { x: value }], 'n5'], text)
  }
  for (const text of ['9007199254740991', '-9007199254740991.0', '9007199254740991e0', '0e999999999', '1.5', '1e-400', '12345678901234567.5']) {
    for (const verifier of [strict, exact]) assert.equal(read(verifier, text).n, Number(text), text)
  }
  for (const text of ['1e400', '-1e999999999999999999999', '9e9999']) {
    for (const verifier of [strict, exact]) assert.equal(read(verifier, text), 'TOKEN_CLAIMS_SHAPE', text)
  }
})

test('text_is_never_taken_for_a_large_number', () => {
  const key = Key.generate('HS256')
  const verifier = new Verifier({ keys: key, ...setting, largeNumbers: 'bigint' })
  const issuer = new Issuer({ key, ...setting, lifetime: 60 })
  const texts = [
    '"n5"', '"nsecret"', '"bigint:5"', '"\\u0062igint:5"', '"\\u0062igint:secret"', '"\\u006e5"', '"s"', '""', '"\\\\"',
    '"\\\\\\""', '"12345678901234567890"', '"a\\"12345678901234567890"', '{"n12345678901234567890" : "n1"}', '{"" : ""}',
    '["n1" , "n2"]', '{"__proto__":{"n1":"n2"}}', '{"a":"x:"}'
  ]
  for (const text of texts) {
    const { n, t } = verifier.verify(issuer.issueJson(`{"n":12345678901234567890,"t":${text}}`)).claims
    assert.equal(n, 12345678901234567890n)
    assert.equal(JSON.stringify(t), JSON.stringify(JSON.parse(text)))
  }
  const many = Array.from({ length: 5000 }, (_, n) => `"${n}\\n\\"e1"`)
  const { all } = verifier.verify(issuer.issueJson(`{"n":12345678901234567890,"all":[${many}]}`)).claims
  assert.deepEqual(all, many.map(text => JSON.parse(text)))
})

test('insecure_keys_have_their_own_names', async () => {
  const password = Key.insecurePassword('PBES2-HS256+A128KW', 'correct horse', { rounds: 10_000, keyId: 'p' })
  assert.equal(password.kind, 'symmetric')
  assert.equal(password.id, 'p')
  const token = await new Issuer({ encryption: password }).issueBytesAsync('text')
  const verifier = new Verifier({ decryption: password })
  assert.equal((await verifier.verifyBytesAsync(token)).toString(), 'text')
  const key = Key.generate('ES256')
  const nested = await new Issuer({ key, encryption: password, ...setting, lifetime: 60 }).issueAsync({ n: 1 })
  assert.equal((await new Verifier({ keys: key, decryption: password, ...setting }).verifyAsync(nested)).claims.n, 1)
  assert.throws(() => Key.insecurePassword('PBES2-HS256+A128KW', 'p', { rounds: 1 }), { code: 'INVALID_PBES2_ROUNDS' })
  assert.throws(() => Key.insecurePassword('HS256', 'p'), { code: 'INVALID_OPTION' })
  assert.throws(() => Key.import('p', { algorithm: 'PBES2-HS256+A128KW' }), { name: 'JetonError' })

  const short = Key.insecureSecret('shhhhh', { algorithm: 'HS256' })
  const verified = new Verifier({ keys: short, ...setting })
  verified.verify(new Issuer({ key: short, ...setting, lifetime: 60 }).issue())
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const pem = publicKey.export({ format: 'pem', type: 'spki' })
  assert.throws(() => Key.import(pem, { algorithm: 'RS256' }), { code: 'KEY_TOO_WEAK' })
  assert.equal(Key.insecureRsa(pem, { algorithm: 'RS256' }).kind, 'public')
})
