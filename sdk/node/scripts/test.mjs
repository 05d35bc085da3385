// Runs all tests, or only the named files. Options go to `node`.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const given = process.argv.slice(2)
const options = given.filter(one => one.startsWith('--'))
const named = given.filter(one => !one.startsWith('--'))
const files = readdirSync(at('test'))
  .filter(name => name.endsWith('.test.mjs') && (named.length === 0 || named.some(one => name.includes(one))))
  .map(name => at(`test/${name}`))

const { status } = spawnSync(process.execPath, ['--expose-gc', '--test', '--test-concurrency=2', ...options, ...files], {
  stdio: 'inherit',
  // Intended panics need no backtrace.
  env: { ...process.env, RUST_BACKTRACE: '0' }
})
process.exitCode = status ?? 1
