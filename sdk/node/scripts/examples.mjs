// Tests the examples with their frameworks, bundlers and other runtimes: `node scripts/examples.mjs [OPTION]`.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))

// As npm would install the packages.
for (const name of ['jeton', '@jeton']) rmSync(at(`examples/node_modules/${name}`), { recursive: true, force: true })
for (const part of ['package.json', 'dist']) cpSync(at(part), at(`examples/node_modules/jeton/${part}`), { recursive: true })
cpSync(at('node_modules/@jeton'), at('examples/node_modules/@jeton'), { recursive: true })

const given = process.argv.slice(2)
const named = given.filter(one => !one.startsWith('--'))
const files = readdirSync(at('examples/test'))
  .filter(name => name.endsWith('.test.mjs') && (named.length === 0 || named.some(one => name.includes(one))))
  .map(name => at(`examples/test/${name}`))
const options = ['--test', '--test-concurrency=1', ...given.filter(one => one.startsWith('--'))]
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit' })
process.exitCode = status ?? 1
