import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

// An installation without a native module.
const folder = mkdtempSync(join(tmpdir(), 'jeton-loading-'))
after(() => rmSync(folder, { recursive: true }))
cpSync(fileURLToPath(new URL('../dist', import.meta.url)), join(folder, 'dist'), { recursive: true })

/** Requires that loading the package fails with this message. */
function fails(message, before = '') {
  const program = `${before}
    try { require('./dist/index.js') } catch (error) { console.log(error.message) }`
  const { stdout } = spawnSync(process.execPath, ['-e', program], { cwd: folder, encoding: 'utf8' })
  assert.match(stdout, message)
  assert.equal(stdout.trim().split('\n').length, 1, stdout)
}

test('unsupported_platform_names_the_supported_ones', () => {
  const unsupported = "Object.defineProperty(process, 'arch', { value: 'riscv64' })"
  fails(/^jeton has no native module for linux-riscv64\. Supported: @jeton\/linux-x64-gnu, /, unsupported)
})

test('missing_native_module_names_its_package', () => {
  const name = `@jeton/linux-${process.arch}-gnu`
  fails(new RegExp(`^jeton has no native module here\\. Install ${name} or .*--omit=optional`))
})

test('damaged_native_module_is_named_with_the_cause', () => {
  const damaged = join(folder, `node_modules/@jeton/linux-${process.arch}-gnu`)
  mkdirSync(damaged, { recursive: true })
  writeFileSync(join(damaged, 'package.json'), '{ "main": "./jeton.node" }')
  writeFileSync(join(damaged, 'jeton.node'), 'no library')
  fails(/^jeton cannot load its native module: .*jeton\.node: .* It needs glibc 2\.28 or musl 1\.2, .*noexec$/m)
})
