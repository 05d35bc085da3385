// Installs the packages into an empty TypeScript project, and runs the first example of the README in ESM and CommonJS:
// `node scripts/try-package.mjs FOLDER`.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = resolve(process.argv[2])
const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const packages = readdirSync(folder).filter(name => name.endsWith('.tgz')).map(name => join(folder, name))
const project = mkdtempSync(join(tmpdir(), 'jeton-try-'))
const run = (program, ...options) => execFileSync(program, options, { cwd: project, encoding: 'utf8' })
try {
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }\n')
  // Works offline, because the packages for other platforms are optional.
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', ...packages)
  const { packages: installed } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'))
  for (const [name, { hasInstallScript }] of Object.entries(installed)) {
    if (hasInstallScript) throw new Error(`${name} has an install script`)
  }
  const [, example] = /```ts\n([^]*?)```/.exec(readFileSync(at('README.md'), 'utf8'))
  const types = JSON.stringify([at('node_modules/@types')])
  const options = `{"target":"es2022","module":"nodenext","strict":true,"types":["node"],"typeRoots":${types}}`
  writeFileSync(join(project, 'tsconfig.json'), `{ "compilerOptions": ${options} }\n`)
  for (const kind of ['mts', 'cts']) writeFileSync(join(project, `example.${kind}`), example)
  run(process.execPath, at('node_modules/typescript/bin/tsc'))
  for (const file of ['example.mjs', 'example.cjs']) {
    const text = run(process.execPath, file)
    if (text !== '/ user-7\nTOKEN_INVALID_SIGNATURE\n') throw new Error(`${file}: ${text}`)
  }
  const js = 'const { Key } = require("jeton"); console.log(Key.generate("ES256").algorithm)'
  if (run(process.execPath, '-e', js) !== 'ES256\n') throw new Error('require failed')
  console.log(`installed ${packages.length} packages; the example runs in ESM and CommonJS on ${process.version}`)
} finally {
  rmSync(project, { recursive: true })
}
