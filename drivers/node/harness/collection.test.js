import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { collectsAfter } from './collection.js'

function printed(fixture) {
  const path = fileURLToPath(new URL(fixture, import.meta.url))
  // As in the manifests of the drivers.
  return JSON.parse(execFileSync(process.execPath, ['--min-semi-space-size=16', path]))
}

test('collections come after the reported number of operations', () => {
  const { between, seen } = printed('collection.fixture.js')
  assert.ok(between > 1_000, `${between} operations of some 800 bytes`)
  assert.deepEqual(seen, { 0.5: 0, 1.5: 1, 2.5: 2 })
})

test('memory returned while idle is acquired again before a run', () => {
  // Half of the young generation is 4,096 pages.
  assert.ok(printed('idle.fixture.js') < 1_024)
})

test('collectsAfter runs at most the given number of operations', async () => {
  let done = 0
  await collectsAfter(async iterations => (done += iterations), 2)
  assert.equal(done, 2)
})
