// Creates the npm packages: `node scripts/pack.mjs NATIVES FOLDER`. NATIVES has a folder for each platform with
// `jeton.node` and `sbom.cdx.json`.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [natives, folder] = process.argv.slice(2).map(path => resolve(path))
const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const read = path => JSON.parse(readFileSync(at(path), 'utf8'))

const { scripts, devDependencies, ...manifest } = read('package.json')
const platforms = readdirSync(at('npm')).toSorted()
for (const name of platforms) {
  const { version } = read(`npm/${name}/package.json`)
  if (version !== manifest.version) throw new Error(`npm/${name}: version ${version}, expected ${manifest.version}`)
}
manifest.optionalDependencies = Object.fromEntries(platforms.map(name => [`@jeton/${name}`, manifest.version]))
pack(manifest, stage => {
  for (const part of ['dist', 'docs', 'compat', 'README.md']) cpSync(at(part), join(stage, part), { recursive: true })
})
for (const platform of readdirSync(natives).toSorted()) {
  pack(read(`npm/${platform}/package.json`), stage => {
    cpSync(join(natives, platform), stage, { recursive: true })
  })
}

/** Packs a folder with this manifest, the licences and the files from `fill`. */
function pack(manifest, fill) {
  const stage = mkdtempSync(join(tmpdir(), 'jeton-pack-'))
  try {
    fill(stage)
    for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) copyFileSync(at(`../../${name}`), join(stage, name))
    writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest, null, 2) + '\n')
    const options = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
    execFileSync('npm', options, { cwd: stage, stdio: 'inherit' })
  } finally {
    rmSync(stage, { recursive: true })
  }
}
