// Keys of `node:crypto` and of the Web Cryptography API.
import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey, generateKeyPairSync, webcrypto } from 'node:crypto'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'

import { Issuer, Key, KeySet, Verifier } from 'jeton'

const { subtle } = webcrypto
const setting = { issuer: 'https://id.example', audience: 'api' }
const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
const signs = ['sign', 'verify']

test('options_accept_key_objects_and_crypto_keys', async () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const web = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, signs)
  for (const { privateKey, publicKey } of [ec, web]) {
    const token = new Issuer({ key: privateKey, ...setting, lifetime: 60 }).issue()
    for (const keys of [publicKey, [publicKey], new KeySet([publicKey]), privateKey]) {
      new Verifier({ keys, ...setting }).verify(token)
    }
  }
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const [encryption, decryption] = [publicKey, privateKey].map(key => Key.import(key, { algorithm: 'ECDH-ES' }))
  const token = new Issuer({ encryption }).issueBytes('text')
  assert.equal(new Verifier({ decryption }).verifyBytes(token).toString(), 'text')
})

test('key_object_without_an_algorithm_names_the_way', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const error = option => ({
    code: 'KEY_ALGORITHM_NEEDED',
    message: `option \`${option}\`: the key does not imply its algorithm: use Key.import(key, { algorithm })`
  })
  for (const key of [privateKey, createSecretKey(Buffer.alloc(32, 7))]) {
    assert.throws(() => new Issuer({ key, ...setting, lifetime: 60 }), error('key'))
    assert.throws(() => new Verifier({ keys: [key], ...setting }), error('keys'))
    assert.throws(() => new Verifier({ decryption: key }), error('decryption'))
  }
})

test('crypto_key_keeps_its_algorithm_and_its_usages', async () => {
  const cases = [
    [{ name: 'ECDSA', namedCurve: 'P-384' }, signs, 'ES384'],
    [{ name: 'RSASSA-PKCS1-v1_5', ...rsa, hash: 'SHA-512' }, signs, 'RS512'],
    [{ name: 'RSA-PSS', ...rsa, hash: 'SHA-256' }, signs, 'PS256'],
    [{ name: 'RSA-OAEP', ...rsa, hash: 'SHA-1' }, ['encrypt', 'decrypt'], 'RSA-OAEP'],
    [{ name: 'RSA-OAEP', ...rsa, hash: 'SHA-256' }, ['encrypt', 'decrypt'], 'RSA-OAEP-256'],
    [{ name: 'Ed25519' }, signs, 'EdDSA'],
    [{ name: 'HMAC', hash: 'SHA-384' }, signs, 'HS384'],
    [{ name: 'AES-KW', length: 256 }, ['wrapKey', 'unwrapKey'], 'A256KW']
  ]
  for (const [parameters, usages, algorithm] of cases) {
    const made = await subtle.generateKey(parameters, true, usages)
    for (const key of made.privateKey ? [made.privateKey, made.publicKey] : [made]) {
      assert.equal(Key.import(key).algorithm, algorithm)
      assert.equal((await Key.importAsync(key)).kind.replace('symmetric', 'secret'), key.type)
    }
  }
  const hmac = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['verify'])
  assert.throws(() => Key.import(hmac, { algorithm: 'HS512' }), { code: 'KEY_ALGORITHM_MISMATCH' })
  const verifies = Key.import(hmac)
  new Verifier({ keys: verifies, ...setting })
  assert.throws(() => new Issuer({ key: verifies, ...setting, lifetime: 60 }).issue(), { code: 'KEY_OPERATION_NOT_PERMITTED' })
  const agrees = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  for (const key of [agrees.publicKey, agrees.privateKey]) {
    assert.equal(Key.import(key, { algorithm: 'ECDH-ES' }).algorithm, 'ECDH-ES')
    assert.throws(() => Key.import(key), { code: /^KEY_(USE_MISMATCH|OPERATION_NOT_PERMITTED)$/ })
  }
})

test('crypto_key_that_is_not_extractable_names_the_way', async () => {
  const { privateKey, publicKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, signs)
  assert.throws(() => Key.import(privateKey), {
    code: 'INVALID_OPTION',
    message: 'the CryptoKey is not extractable: sign with it in Issuer.issueWith'
  })
  const issuer = new Issuer({ key: publicKey, ...setting, lifetime: 60 })
  const token = await issuer.issueWith({}, async ({ message }) => {
    return new Uint8Array(await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, message))
  })
  new Verifier({ keys: publicKey, ...setting }).verify(token)
  const secret = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, signs)
  assert.throws(() => new Verifier({ keys: secret, ...setting }), {
    code: 'INVALID_OPTION',
    message: 'the CryptoKey is not extractable: create it with extractable: true'
  })
})

test('public_keys_become_key_objects_and_crypto_keys', async () => {
  for (const algorithm of ['ES256', 'ES512', 'RS384', 'PS256', 'EdDSA', 'Ed25519', 'RSA-OAEP', 'RSA-OAEP-512', 'ECDH-ES']) {
    const key = Key.generate(algorithm)
    const object = key.toKeyObject()
    assert.equal(object.type, 'public')
    assert.deepEqual(object.export({ format: 'pem', type: 'spki' }), createPublicKey(key.toPem()).export({ format: 'pem', type: 'spki' }))
    const web = await key.toCryptoKey()
    assert.equal(web.type, 'public')
    assert.equal(Key.import(web, { algorithm }).thumbprint(), key.thumbprint())
  }
  const x25519 = Key.generate('ECDH-ES', { curve: 'X25519' })
  assert.equal((await x25519.toCryptoKey()).algorithm.name, 'X25519')
  const secret = Key.generate('HS256')
  assert.throws(() => secret.toKeyObject(), { code: 'KEY_TYPE_MISMATCH' })
  await assert.rejects(secret.toCryptoKey(), { code: 'KEY_TYPE_MISMATCH' })
  await assert.rejects(Key.generate('ES256K').toCryptoKey(), { code: 'KEY_UNSUPPORTED' })
})

test('clone_of_a_key_is_an_error_that_names_the_way', () => {
  const key = Key.generate('ES256', { keyId: 'a' })
  const set = new KeySet([key])
  const { port1, port2 } = new MessageChannel()
  for (const clone of [structuredClone, one => port1.postMessage(one), one => structuredClone({ deep: [one] })]) {
    assert.throws(() => clone(key), { code: 'INVALID_OPTION', message: /clone key\.toKeyObject\(\)/ })
    assert.throws(() => clone(set), { code: 'INVALID_OPTION', message: /clone set\.toJwks\(\)/ })
  }
  port1.close()
  port2.close()
  assert.equal(Key.import(structuredClone(key.toKeyObject())).thumbprint(), key.thumbprint())
  assert.deepEqual(KeySet.import(structuredClone(set.toJwks())).ids, ['a'])
  assert.equal(JSON.stringify({ key, set }), '{"key":{},"set":{}}')
})
