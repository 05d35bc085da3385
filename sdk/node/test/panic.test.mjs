import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { Issuer, Key, Verifier } from 'jeton'

const native = createRequire(import.meta.url)(`@jeton/linux-${process.arch}-gnu`)
const skip = native.panicNext ? false : 'the native module was built without test-hooks'

test('panic_becomes_an_error_and_the_process_lives', { skip }, async () => {
  const key = Key.generate('HS256')
  const issuer = new Issuer({ key, issuer: 'i', audience: 'a', lifetime: 60 })
  const verifier = new Verifier({ keys: key, issuer: 'i', audience: 'a' })
  const token = issuer.issue()
  const calls = [
    () => verifier.verify(token),
    () => issuer.issue(),
    () => Key.generate('ES256'),
    () => key.algorithm,
    () => key.close()
  ]
  for (const call of calls) {
    native.panicNext()
    assert.throws(call, { name: 'JetonError', code: 'INTERNAL' })
  }
  verifier.verify(token)
  // In the thread pool.
  const pending = issuer.issueAsync()
  native.panicNext()
  const [result] = await Promise.allSettled([pending])
  if (result.status === 'fulfilled') assert.throws(() => key.algorithm, { code: 'INTERNAL' })
  else assert.equal(result.reason.code, 'INTERNAL')
  verifier.verify(issuer.issue())
})
