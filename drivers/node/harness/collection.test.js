import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { collectsAfter } from './collection.js'

test('collections come when they are said to come', () => {
  const fixture = fileURLToPath(new URL('collection.fixture.js', import.meta.url))
  // As the manifests of the drivers have it.
  const said = execFileSync(process.execPath, ['--min-semi-space-size=16', fixture])
  const { between, seen } = JSON.parse(said)
  assert.ok(between > 1_000, `${between} operations of some 800 bytes`)
  assert.deepEqual(seen, { 0.5: 0, 1.25: 1, 2.25: 2 })
})

test('no more is done to find out than was asked for', async () => {
  let done = 0
  await collectsAfter(async iterations => (done += iterations), 2)
  assert.equal(done, 2)
})
