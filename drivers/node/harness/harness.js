// The part of a Node driver that all libraries share. It speaks the driver protocol
// (drivers/PROTOCOL.md) and times the operation that a driver prepared.
//
// A driver is one file that calls `serve` with
//   library, version     the name in every table, and what is installed (see `installedVersion`)
//   offers               the lines of `hello` (see `offer`)
//   sign(prepare)        returns index => token, a string; `encrypt` likewise, for a `jwe`
//   verify(prepare)      returns token => claims, or throws; `decrypt` likewise, for a `jwe`
//   verifySignature      returns token => anything, or throws
//   generateKey(prepare) returns () => key
//   loadKey(prepare)     returns () => key, from `keyTexts(prepare)`
//   extras               the names of the extras that `verify` supports: `cached`, `issuers`, `options`
// It has the functions that its offers need; `round-trip` combines two of them. All functions, and
// what they return, may be asynchronous. They may throw `Unsupported` or `Invalid`; any other
// exception is `failed`. With more than one thread, the driver's own file is loaded again in each
// worker.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isMainThread, workerData } from 'node:worker_threads'

import { collect, collectsAfter } from './collection.js'
import { operationOf } from './operations.js'
import { Invalid, Unsupported } from './errors.js'
import { Workers, work } from './threads.js'

export { keyPem, keyText, keyTexts, keyed, secretBytes } from './keys.js'
export { userOptions } from './options.js'
export { Invalid, Unsupported }

const protocol = 1
const lineBytesMax = 8 * 1024 * 1024
const reasonLengthMax = 300
const threadsMax = 1024
// JSON.stringify escapes an unpaired surrogate, and never a pair.
const halfCharacter = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/** Returns the installed version of a dependency. `from` is the driver's `import.meta.url`. */
export function installedVersion(name, from) {
  for (const folder of createRequire(from).resolve.paths(name)) {
    const file = join(folder, name, 'package.json')
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version
  }
  throw new Error(`${name} is not installed`)
}

/**
 * Expands one line of the manifest to lines of `hello`: each algorithm with each content
 * encryption. Keys are handled both ways unless `key_handling` says otherwise.
 */
export function offer({ format, algs = [null], encs = [null], operations, ...keys }) {
  const { key_handling = ['prepared', 'parsed-per-call'], key_text = [] } = keys
  return algs.flatMap(alg =>
    encs.map(enc => ({ format, alg, enc, contracts: operations, key_handling, key_text }))
  )
}

/**
 * Returns whether a token without `exp` must be rejected. A careful user requires it, so it is
 * false only if the given claims are known to have none.
 */
export function expiryRequired(prepare) {
  return !defaults(prepare) && prepare.claims.values.every(value => value.exp !== undefined)
}

/**
 * Returns whether to call the library as the first example of its documentation does, without
 * additional checks. Only `lab attack` uses it; it never affects timings. A driver that uses it
 * sets `knowsDefaults: true`.
 */
export function defaults(prepare) {
  return prepare.practice === 'defaults'
}

/** Speaks the protocol until `bye` or the end of the input. */
export async function serve(driver) {
  if (!isMainThread) return work(workerData, request => operationOf(driver, request))

  const session = new Session(driver)
  for await (const line of lines(process.stdin)) {
    const answer = await session.answer(line)
    await sent(JSON.stringify(answer) + '\n')
    if (session.ended) break
  }
  await session.close()
  process.stdin.destroy()
}

class Session {
  ended = false
  #driver
  #request = null
  #operation = null
  #workers = null

  constructor(driver) {
    this.#driver = driver
  }

  async answer(line) {
    try {
      const request = parseRequest(line)
      switch (request.op) {
        case 'hello':
          return this.#hello(request)
        case 'prepare':
          return await this.#prepare(request)
        case 'token':
          return await this.#token(request)
        case 'verify':
          return await this.#verify(request)
        case 'run':
          return await this.#run(request)
        case 'bye':
          this.ended = true
          return { ok: true }
      }
      throw new Invalid('the op is unknown')
    } catch (error) {
      return { ok: false, error: error?.kind ?? 'failed', reason: oneLine(error) }
    }
  }

  async close() {
    await this.#workers?.close()
    this.#workers = null
  }

  #hello(request) {
    if (request.protocol !== protocol) {
      throw new Unsupported(`this driver speaks protocol ${protocol} only`)
    }
    const { library, version, offers, knowsDefaults, byDriver, extras } = this.#driver
    return {
      ok: true,
      protocol,
      library,
      version,
      language: 'node',
      runtime: `node ${process.version}`,
      counts: [],
      by_driver: byDriver ?? [],
      extras: extras ?? [],
      practices: knowsDefaults ? ['defaults', 'documented'] : [],
      // `keyText` serves every operation.
      takes_key_text: true,
      offers
    }
  }

  async #prepare(request) {
    this.#operation = null
    await this.close()
    this.#operation = await operationOf(this.#driver, request)
    this.#request = request
    return { ok: true }
  }

  async #token({ index }) {
    if (!this.#operation?.token) {
      throw new Invalid('token needs a prepared sign, encrypt or round-trip')
    }
    return { ok: true, token: await this.#operation.token(index) }
  }

  async #verify({ token, verifier }) {
    if (!this.#operation?.verify) {
      throw new Invalid('verify needs a prepared verify, decrypt or verify-signature')
    }
    if (typeof token !== 'string') throw new Invalid('verify needs a token')
    try {
      const claims = await this.#operation.verify(token, verifier)
      return { ok: true, accepted: true, claims: written(claims) }
    } catch (error) {
      return { ok: true, accepted: false, reason: oneLine(error) }
    }
  }

  async #run({ iterations, threads, count }) {
    if (!this.#operation) throw new Invalid('run needs a prepared operation')
    const within = (number, max) => Number.isSafeInteger(number) && number >= 1 && number <= max
    if (!within(iterations, Number.MAX_SAFE_INTEGER) || !within(threads, threadsMax)) {
      throw new Invalid(`run needs 1 or more iterations on 1 to ${threadsMax} threads`)
    }
    const { elapsed, checksum } = await this.#measure(iterations, threads)
    if (!Number.isSafeInteger(checksum)) {
      throw new Invalid('the checksum does not fit a JSON number; ask for fewer iterations')
    }
    const collects_after = count ? await collectsAfter(this.#operation.run, iterations) : null
    return {
      ok: true,
      elapsed_ns: Number(elapsed),
      checksum,
      bytes: null,
      allocs: null,
      collects_after
    }
  }

  async #measure(iterations, threads) {
    if (threads === 1) {
      collect()
      const start = process.hrtime.bigint()
      const checksum = await this.#operation.run(iterations)
      return { elapsed: process.hrtime.bigint() - start, checksum }
    }
    // Workers live until the next prepare, so that code is compiled only once.
    if (this.#workers?.count !== threads) {
      await this.close()
      this.#workers = await Workers.start(threads, this.#request)
    }
    return this.#workers.run(iterations)
  }
}

function parseRequest(line) {
  if (line === null) throw new Invalid(`the line is longer than ${lineBytesMax} bytes`)
  try {
    const request = JSON.parse(line)
    if (request !== null && typeof request === 'object' && !Array.isArray(request)) return request
  } catch {
    // Answered below, without quoting the line.
  }
  throw new Invalid('the line is not a request')
}

/** Yields each line as text, and null for a line beyond the limit, which is discarded. */
async function* lines(input) {
  let parts = []
  let bytes = 0
  const take = () => {
    const line = bytes > lineBytesMax ? null : Buffer.concat(parts).toString('utf8')
    parts = []
    bytes = 0
    return line
  }
  for await (let chunk of input) {
    for (let end; (end = chunk.indexOf(0x0a)) !== -1; chunk = chunk.subarray(end + 1)) {
      parts.push(chunk.subarray(0, end))
      bytes += end
      yield take()
    }
    bytes += chunk.length
    if (bytes <= lineBytesMax) parts.push(chunk)
    else parts = []
  }
  if (bytes > 0) yield take()
}

/** Returns the claims, or null where JSON cannot express them: an unpaired surrogate, too deep nesting. */
function written(claims) {
  try {
    return halfCharacter.test(JSON.stringify(claims) ?? '') ? null : claims
  } catch {
    return null
  }
}

function sent(text) {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()))
  })
}

function oneLine(error) {
  const reason = String(error?.message ?? error).replace(/\s+/g, ' ').trim()
  return reason.length > reasonLengthMax ? reason.slice(0, reasonLengthMax) + '…' : reason
}
