// Writes docs/api.md from the types in `dist`: `node scripts/api.mjs`. A test compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const read = path => readFileSync(new URL(path, root), 'utf8')

/** Splits a file of types into its declarations, with the comment before each. */
function declarationsOf(file) {
  const found = new Map()
  let doc = ''
  for (const [statement] of read(file).matchAll(/^(?:\/\*\*[^]*?\*\/|\S[^]*?)\n(?=[^\s}]|(?![^]))/gm)) {
    if (statement.startsWith('/**')) {
      doc = statement
      continue
    }
    const [, kind, name] = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type|function|const) (\w+)/.exec(statement) ?? []
    if (name !== undefined) {
      const before = found.get(name)
      found.set(name, { kind, doc: before?.doc || doc, text: (before?.text ?? '') + statement })
    }
    doc = ''
  }
  return found
}

/** Returns the declarations that a file exports, and the interfaces that they extend. */
function exportsOf(file) {
  const all = new Map()
  const own = declarationsOf(file)
  const add = (name, from) => {
    if (from.has(name) && !all.has(name)) all.set(name, from.get(name))
  }
  for (const [name, { text }] of own) if (text.startsWith('export ')) add(name, own)
  const near = other => new URL(other.replace(/\.js$/, '.d.ts'), new URL(file, root)).href.slice(root.href.length)
  for (const [, names, other] of read(file).matchAll(/^export (?:type )?(\*(?: as \w+)?|\{[^}]*\}) from '(.+)';$/gm)) {
    if (names === '*') for (const [name, one] of exportsOf(near(other))) all.set(name, one)
    if (!names.startsWith('{')) continue
    const from = exportsOf(near(other))
    for (const part of names.slice(1, -1).split(',')) {
      const name = part.trim().replace(/^type /, '')
      const bases = /\bextends (?:Omit<)?(\w+Settings)/.exec(from.get(name)?.text ?? '') ?? []
      if (bases[1]) add(bases[1], declarationsOf('dist/settings.d.ts'))
      add(name, from)
    }
  }
  return all
}

function plain(doc) {
  const lines = doc.replace(/^\/\*\*|\*\/\s*$/g, '').split('\n').map(line => line.replace(/^\s*\* ?/, '').trim())
  return lines.join('\n').trim().replace(/\{@link ([\w.]+)\}/g, '`$1`')
}

const rank = { class: 0, function: 1, const: 1, interface: 2, type: 3 }

/** Returns the page. */
export function page() {
  const { exports } = JSON.parse(read('package.json'))
  const parts = [
    '# API reference',
    'Written by `node scripts/api.mjs` from the types of the package. Do not change it here.'
  ]
  const places = new Map()
  for (const [path, entry] of Object.entries(exports)) {
    if (typeof entry === 'string') continue
    const place = path.replace('.', 'jeton')
    parts.push(`## ${place}`)
    const all = [...exportsOf(entry.require.types.slice(2))].toSorted(([, a], [, b]) => rank[a.kind] - rank[b.kind])
    for (const [name, { doc, text }] of all) {
      const other = places.get(text)
      if (other) {
        parts.push(`### ${name}`, `As in \`${other}\`.`)
        continue
      }
      places.set(text, place)
      const code = text.replace(/^export (?:declare )?/gm, '').replace(/^ {4}#private;\n/m, '').replaceAll('    ', '  ')
      parts.push(`### ${name}`, ...(doc ? [plain(doc)] : []), '```typescript\n' + code.trimEnd() + '\n```')
    }
  }
  return parts.join('\n\n') + '\n'
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL('docs/api.md', root), page())
