import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { collectsAfter } from './collection.js'

function printed(fixture) {
  const path = fileURLToPath(new URL(fixture, import.meta.url))
  // As the manifests of the drivers have it.
  return JSON.parse(execFileSync(process.execPath, ['--min-semi-space-size=16', path]))
}

test('collections come when they are said to come', () => {
  const { between, seen } = printed('collection.fixture.js')
  assert.ok(between > 1_000, `${between} operations of some 800 bytes`)
  assert.deepEqual(seen, { 0.5: 0, 1.5: 1, 2.5: 2 })
})

test('what was given back to the system in idle seconds is had again before a run', () => {
  // Half of the young generation is 4,096 pages.
  assert.ok(printed('idle.fixture.js') < 1_024)
})

test('no more is done to find out than was asked for', async () => {
  let done = 0
  await collectsAfter(async iterations => (done += iterations), 2)
  assert.equal(done, 2)
})
