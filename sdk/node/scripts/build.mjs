// Compiles the sources, writes the ESM entry points, and copies the native module to where Node finds it.
//
// `node scripts/build.mjs [FILE]`: FILE is the native library built by cargo.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const at = path => fileURLToPath(new URL(path, root))
const require = createRequire(import.meta.url)

const [native] = process.argv.slice(2)
if (native !== undefined) placeNative(native)

rmSync(at('dist'), { recursive: true, force: true })
execFileSync(process.execPath, [at('node_modules/typescript/bin/tsc'), '--project', at('tsconfig.json')], {
  stdio: 'inherit'
})
const { exports } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
for (const entry of Object.values(exports)) {
  if (typeof entry === 'object') writeEsm(entry)
}

/** Creates the package that npm would install for this platform, for tests. */
function placeNative(file) {
  const name = `linux-${process.arch}-gnu`
  const folder = at(`node_modules/@jeton/${name}`)
  mkdirSync(folder, { recursive: true })
  copyFileSync(at(`npm/${name}/package.json`), `${folder}/package.json`)
  // A running process keeps the old file.
  copyFileSync(file, `${folder}/jeton.node.new`)
  renameSync(`${folder}/jeton.node.new`, `${folder}/jeton.node`)
}

/**
 * Writes an ESM entry point that exports the names of the CommonJS entry point. Both export the same classes, whichever
 * a program and its dependencies use.
 */
function writeEsm({ import: esm, require: cjs }) {
  const names = Object.keys(require(at(cjs.default))).filter(name => name !== 'default')
  const file = `./${cjs.default.split('/').at(-1)}`
  const lines = [
    `import module from '${file}'`,
    `export const { ${names.join(', ')} } = module`,
    ...(esm.default.includes('/compat/') ? ['export default module'] : [])
  ]
  writeFileSync(at(esm.default), lines.join('\n') + '\n')
  const types = [`export * from '${file}'`]
  if (esm.default.includes('/compat/')) types.push(`export { default } from '${file}'`)
  writeFileSync(at(esm.types), types.join('\n') + '\n')
}
