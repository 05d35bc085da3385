// Bundles a program with esbuild and webpack, and runs the bundle.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'
import webpack from 'webpack'

const folder = fileURLToPath(new URL('.bundles', import.meta.url))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
/** A folder from which Node finds no packages. */
const elsewhere = mkdtempSync(join(tmpdir(), 'jeton-bundles-'))
after(() => [folder, elsewhere].forEach(one => rmSync(one, { recursive: true })))

const source = `${folder}/source.mjs`
writeFileSync(source, "import { Key } from 'jeton'\nconsole.log(Key.generate('ES256').algorithm)\n")

function run(file) {
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  return stdout + stderr
}

const error = /AggregateError: jeton is in a bundle, .*docs\/bundlers\.md/

function withEsbuild(entry, outfile, format, external) {
  const options = { bundle: true, platform: 'node', logLevel: 'error', entryPoints: [entry] }
  return build({ ...options, format, outfile, external })
}

for (const [format, extension] of [['cjs', 'cjs'], ['esm', 'mjs']]) {
  test(`esbuild_bundle_as_${format}_needs_the_documented_setting`, async () => {
    await withEsbuild(source, `${elsewhere}/esbuild.${extension}`, format, [])
    assert.match(run(`${elsewhere}/esbuild.${extension}`), error)
    await withEsbuild(source, `${folder}/esbuild.${extension}`, format, ['jeton'])
    assert.equal(run(`${folder}/esbuild.${extension}`), 'ES256\n')
  })
}

test('bundle_of_each_entry_point_names_the_setting', async () => {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const entries = Object.values(exports).filter(one => typeof one === 'object').map(one => one.import.default)
  assert.ok(entries.length >= 6)
  for (const entry of entries) {
    const file = `${elsewhere}/${entry.replace(/\W/g, '-')}.mjs`
    await withEsbuild(fileURLToPath(new URL(`../../${entry}`, import.meta.url)), file, 'esm', [])
    assert.match(run(file), error, entry)
  }
})

test('webpack_bundle_needs_the_documented_setting', async () => {
  for (const path of [elsewhere, folder]) {
    const externals = path === folder ? { jeton: 'commonjs jeton' } : {}
    const output = { path, filename: 'webpack.cjs' }
    const compiler = webpack({ entry: source, target: 'node', mode: 'production', externals, output })
    const stats = await new Promise((resolve, reject) => compiler.run((error, found) => (error ? reject(error) : resolve(found))))
    assert.deepEqual(stats.toJson().errors, [])
    if (path === folder) assert.equal(run(`${path}/webpack.cjs`), 'ES256\n')
    else assert.match(run(`${path}/webpack.cjs`), error)
  }
})
