// Runs the tests.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const named = process.argv.slice(2)
const files = readdirSync(at('test'))
  .filter(name => name.endsWith('.test.mjs') && (named.length === 0 || named.some(one => name.includes(one))))
  .map(name => at(`test/${name}`))

const { status } = spawnSync(process.execPath, ['--expose-gc', '--test', '--test-concurrency=2', ...files], {
  stdio: 'inherit',
  // The panics that a test asks for need no backtrace.
  env: { ...process.env, RUST_BACKTRACE: '0' }
})
process.exitCode = status ?? 1
