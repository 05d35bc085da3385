// Runs the tests of jsonwebtoken with jeton/compat/jsonwebtoken, and writes the table of their results.
//
// `node scripts/jsonwebtoken-tests.mjs FOLDER`: FOLDER has the sources of jsonwebtoken, after `npm install`. Build the
// library first. Each file runs in its own process: once as it is, and once with `allowInsecureKeySizes` in all options.
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const [folder, file, mode] = process.argv.slice(2)
if (file === undefined) writeTable(resolve(folder))
else await runFile(folder, file, mode === 'weak')

function writeTable(folder) {
  const files = readdirSync(join(folder, 'test')).filter(name => /\.tests?\.js$/.test(name))
  const rows = files.sort().flatMap(name => {
    const [own, weak] = ['own', 'weak'].map(mode => {
      const script = [fileURLToPath(import.meta.url), folder, join(folder, 'test', name), mode]
      return JSON.parse(execFileSync(process.execPath, script, { encoding: 'utf8', maxBuffer: 1 << 26 }))
    })
    return weak.tests.map((test, index) => [name, test.title, ...resultOf(own.tests[index], test, own.rule)])
  })
  const lines = [['file', 'test', 'result', 'rule'], ...rows].map(row => `${row.join('\t')}\n`)
  writeFileSync(at('compat/jsonwebtoken-tests.tsv'), lines.join(''))
  const results = rows.map(row => row.slice(2).join(' ').trim())
  for (const result of new Set(results)) console.log(results.filter(one => one === result).length, result)
}

/** Returns the result of a test, and the rule because of which it does not pass. */
function resultOf(own, weak, ruleOfFile) {
  if (weak.state === 'pending') return ['skipped by the package', '']
  if (own?.state === 'passed') return ['passes', '']
  const rule = own?.rule ?? ruleOfFile
  if (weak.state === 'passed' && rule === 'weak-secret') return ['refused', 'weak-secret: passes with allowInsecureKeySizes']
  return weak.rule === undefined ? ['fails', weak.error ?? rule ?? ''] : ['refused', weak.rule]
}

async function runFile(folder, file, isWeakAllowed) {
  const require = createRequire(join(folder, 'index.js'))
  const Mocha = require('mocha')
  let rule
  redirect(folder, layer(isWeakAllowed, found => (rule ??= found)))
  const mocha = new Mocha({ reporter: class {}, timeout: 60_000 })
  mocha.addFile(file)
  let ruleOfFile
  try {
    mocha.loadFiles()
  } catch {
    ruleOfFile = rule
  }
  const results = new Map()
  if (ruleOfFile === undefined) {
    await new Promise(done => {
      const runner = new Mocha.Runner(mocha.suite, false)
      const note = (test, state, error) => {
        if (!results.has(test)) results.set(test, { state, rule, error: error?.message })
      }
      runner.on('test', () => (rule = undefined))
      runner.on('pass', test => note(test, 'passed'))
      runner.on('pending', test => note(test, 'pending'))
      runner.on('fail', (test, error) => {
        // A hook that fails ends the tests of its suite.
        if (test.type === 'hook') test.parent.eachTest(one => note(one, 'failed', error))
        else note(test, 'failed', error)
      })
      runner.run(done)
    })
  }
  const tests = []
  mocha.suite.eachTest(test => tests.push({ title: test.fullTitle(), ...results.get(test) }))
  process.stdout.write(JSON.stringify({ rule: ruleOfFile, tests }), () => process.exit())
}

/** Returns the layer. `note` gets the rule of each error that has one. */
function layer(isWeakAllowed, note) {
  const jwt = createRequire(import.meta.url)(at('dist/compat/jsonwebtoken.js'))
  const noted = run => (...given) => {
    const last = given.length - 1
    if (typeof given[last] === 'function') {
      const callback = given[last]
      given[last] = Object.assign((error, ...result) => {
        if (error) note(error.rule)
        callback(error, ...result)
      }, callback)
    }
    try {
      return run(...given)
    } catch (error) {
      note(error.rule)
      throw error
    }
  }
  const withOptions = run => (data, key, ...others) => {
    const options = typeof others[0] === 'function' || others.length === 0 ? {} : others.shift()
    const isPlain = options === undefined || Object.getPrototypeOf(Object(options)) === Object.prototype
    return run(data, key, isPlain ? { allowInsecureKeySizes: true, ...options } : options, ...others)
  }
  const { sign, verify } = jwt
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(jwt),
    sign: { value: noted(isWeakAllowed ? withOptions(sign) : sign), enumerable: true },
    verify: { value: noted(isWeakAllowed ? withOptions(verify) : verify), enumerable: true }
  })
}

/** Loads the layer where a test loads jsonwebtoken. */
function redirect(folder, jwt) {
  const own = new Map([
    ['index.js', jwt],
    ['JsonWebTokenError.js', jwt.JsonWebTokenError],
    ['validateAsymmetricKey.js', createRequire(import.meta.url)(at('dist/compat/keys.js')).checkKeyType]
  ])
  const load = Module._load
  Module._load = (request, parent, ...others) => {
    const isOfTest = parent?.filename?.startsWith(join(folder, 'test')) && request.startsWith('.')
    const name = isOfTest ? basename(Module._resolveFilename(request, parent)) : ''
    return own.get(name) ?? load(request, parent, ...others)
  }
}
