// Installs the packages for a platform into an empty TypeScript project, and runs the first example of the README in ESM
// and CommonJS: `node scripts/try-package.mjs FOLDER PLATFORM FILE`. FILE receives the example as JavaScript.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = resolve(process.argv[2])
const platform = process.argv[3]
const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
// npm refuses to install the file of another platform.
const isForThis = name => /^jeton-\d.*\.tgz$/.test(name) || name.startsWith(`jeton-${platform}-`)
const packages = readdirSync(folder).filter(isForThis).map(name => join(folder, name))
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
  copyFileSync(join(project, 'example.mjs'), process.argv[4])
  console.log(`installed ${packages.length} packages; the example runs in ESM and CommonJS on ${process.version}`)
} finally {
  rmSync(project, { recursive: true })
}
