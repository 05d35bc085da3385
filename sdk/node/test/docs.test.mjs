// Compiles every TypeScript example in the documentation.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { page } from '../scripts/api.mjs'

const root = new URL('..', import.meta.url)
const at = path => fileURLToPath(new URL(path, root))

function run(...command) {
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return stdout + stderr
}

test('examples_in_the_documentation_compile', () => {
  const pages = ['README.md', ...readdirSync(at('docs')).map(name => `docs/${name}`)]
  const folder = at('test/.examples')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  let count = 0
  for (const page of pages) {
    for (const [, example] of readFileSync(at(page), 'utf8').matchAll(/```ts\n([^]*?)```/g)) {
      const name = page.replace(/\W/g, '-')
      for (const kind of ['mts', 'cts']) writeFileSync(`${folder}/${name}-${count}.${kind}`, example)
      count++
    }
  }
  for (const kind of ['mts', 'cts']) writeFileSync(`${folder}/types.${kind}`, readFileSync(at('test/types.fixture.ts')))
  const compilerOptions = {
    target: 'es2022', module: 'nodenext', strict: true, noEmit: true, types: ['node'], skipLibCheck: true,
    esModuleInterop: true
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*'] }))
  assert.equal(run(at('node_modules/typescript/bin/tsc'), '-p', folder), '')
  assert.ok(count >= 8, `${count} examples`)
  rmSync(folder, { recursive: true })
})

test('api_reference_is_what_the_types_say', () => {
  const hint = 'write it again: node scripts/api.mjs'
  assert.ok(readFileSync(at('docs/api.md'), 'utf8') === page(), hint)
  for (const name of ['Verifier', 'VerifierSettings', 'authenticator', 'sign']) assert.match(page(), new RegExp(`^### ${name}$`, 'm'))
})

test('example_of_jsonwebtoken_runs_in_esm_and_commonjs', () => {
  const [, example] = /```ts\n([^]*?)```/.exec(readFileSync(at('docs/migration.md'), 'utf8'))
  assert.match(example, /^import jwt from 'jeton\/compat\/jsonwebtoken'/)
  const uses = [example, example.replace('import jwt', 'import * as jwt')]
  const folder = at('test/.compat')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const compilerOptions = {
    target: 'es2022', module: 'nodenext', strict: true, types: ['node'], skipLibCheck: true, esModuleInterop: true
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*'] }))
  const check = "\nexport const payload: jwt.JwtPayload = { iss: 'a' }\nconsole.log(typeof claims, jwt.decode(token) !== null)\n"
  for (const kind of ['mts', 'cts']) {
    uses.forEach((use, n) => writeFileSync(`${folder}/use-${n}.${kind}`, use + check))
  }
  assert.equal(run(at('node_modules/typescript/bin/tsc'), '-p', folder), '')
  for (const file of ['use-0.mjs', 'use-0.cjs', 'use-1.mjs', 'use-1.cjs']) {
    assert.equal(run(`${folder}/${file}`), 'object true\n', file)
  }
  rmSync(folder, { recursive: true })
})
