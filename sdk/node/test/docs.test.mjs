// Every TypeScript example of the pages compiles.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const at = path => fileURLToPath(new URL(path, root))

test('examples_of_the_pages_compile', () => {
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
  const compiler = spawnSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  assert.equal(compiler.stdout, '')
  assert.ok(count >= 8, `${count} examples`)
  rmSync(folder, { recursive: true })
})
