// The part of a Node driver that is the same for every library: it speaks the driver protocol
// (drivers/PROTOCOL.md) and times the contract that a driver prepared.
//
// A driver is one file that calls `serve` with
//   library, version   the name in every table, and what is installed (see `installedVersion`)
//   offers             the lines of `hello`
//   sign(prepare)      gives index => token, a string
//   verify(prepare)    gives token => claims, or throws
//   verifySignature    gives token => anything, or throws
// The three may throw `Unsupported` or `Invalid`; anything else that they throw is `failed`. With
// more than one thread, the driver's own file is loaded again in each worker.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isMainThread, workerData } from 'node:worker_threads'

import { Workers, work } from './threads.js'

const protocol = 1
const lineBytesMax = 8 * 1024 * 1024
const reasonLengthMax = 300
const threadsMax = 1024

/** A fact about the library, which is no defect. */
export class Unsupported extends Error {
  kind = 'unsupported'
}

/** A request that makes no sense. */
export class Invalid extends Error {
  kind = 'invalid'
}

/** The version of a dependency as installed. `from` is the driver's `import.meta.url`. */
export function installedVersion(name, from) {
  let folder = dirname(createRequire(from).resolve(name))
  for (;;) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (manifest.name === name) return manifest.version
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`)
    folder = dirname(folder)
  }
}

/** Offers the same contracts for each of the JOSE algorithms, with keys handled both ways. */
export function jwtOffers(contracts, ...algs) {
  const key_handling = ['prepared', 'parsed-per-call']
  return algs.map(alg => ({ format: 'jwt', alg, enc: null, contracts, key_handling }))
}

/**
 * Whether a token without `exp` must be refused. A careful user demands it, so it is false only when
 * the user's own claims are known to go without.
 */
export function expiryRequired(prepare) {
  return prepare.claims.values.every(value => value.exp !== undefined)
}

/**
 * Gives the function that an operation calls for what `load` makes of the key: made once for
 * `prepared`, and again in every call for `parsed-per-call`.
 */
export function keyed(prepare, load) {
  const made = load()
  return prepare.key_handling === 'parsed-per-call' ? load : () => made
}

/** Speaks the protocol until `bye` or the end of the input. */
export async function serve(driver) {
  if (!isMainThread) return work(workerData, request => contractOf(driver, request))

  const session = new Session(driver)
  for await (const line of lines(process.stdin)) {
    const answer = await session.answer(line)
    await written(JSON.stringify(answer) + '\n')
    if (session.ended) break
  }
  await session.close()
  process.stdin.destroy()
}

class Session {
  ended = false
  #driver
  #request = null
  #contract = null
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
          return this.#token(request)
        case 'verify':
          return this.#verify(request)
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
    const { library, version, offers } = this.#driver
    return {
      ok: true,
      protocol,
      library,
      version,
      language: 'node',
      runtime: `node ${process.version}`,
      counts: [],
      offers
    }
  }

  async #prepare(request) {
    this.#contract = null
    await this.close()
    this.#contract = contractOf(this.#driver, request)
    this.#request = request
    return { ok: true }
  }

  #token({ index }) {
    if (!this.#contract?.token) throw new Invalid('token needs a prepared sign')
    return { ok: true, token: this.#contract.token(index) }
  }

  #verify({ token }) {
    if (!this.#contract?.verify) {
      throw new Invalid('verify needs a prepared verify or verify-signature')
    }
    if (typeof token !== 'string') throw new Invalid('verify needs a token')
    try {
      return { ok: true, accepted: true, claims: this.#contract.verify(token) }
    } catch (error) {
      return { ok: true, accepted: false, reason: oneLine(error) }
    }
  }

  async #run({ iterations, threads }) {
    if (!this.#contract) throw new Invalid('run needs a prepared contract')
    const within = (number, max) => Number.isSafeInteger(number) && number >= 1 && number <= max
    if (!within(iterations, Number.MAX_SAFE_INTEGER) || !within(threads, threadsMax)) {
      throw new Invalid(`run needs 1 or more iterations on 1 to ${threadsMax} threads`)
    }
    const { elapsed, checksum } = await this.#measure(iterations, threads)
    if (!Number.isSafeInteger(checksum)) {
      throw new Invalid('the checksum does not fit a JSON number; ask for fewer iterations')
    }
    return { ok: true, elapsed_ns: Number(elapsed), checksum, bytes: null, allocs: null }
  }

  async #measure(iterations, threads) {
    if (threads === 1) {
      const start = process.hrtime.bigint()
      const checksum = this.#contract.run(iterations)
      return { elapsed: process.hrtime.bigint() - start, checksum }
    }
    // Workers live until the next prepare, so that the compiled code is paid for once.
    if (this.#workers?.count !== threads) {
      await this.close()
      this.#workers = await Workers.start(threads, this.#request)
    }
    return this.#workers.run(iterations)
  }
}

/** Makes the contract that a `prepare` request asks for: {run, and token or verify}. */
function contractOf(driver, request) {
  if (!offered(driver.offers, request)) {
    const { contract, format, alg, key_handling } = request
    throw new Unsupported(
      `${driver.library} does not offer ${format} ${alg} with ${key_handling} keys for ${contract}`
    )
  }
  const prepare = {
    ...request,
    keys: request.keys ?? {},
    claims: { name: request.claims?.name, values: request.claims?.values ?? [] },
    policy: request.policy ?? {}
  }
  const tokens = request.tokens ?? []
  switch (request.contract) {
    case 'sign':
      return signing(driver.sign(prepare), prepare.claims.values.length)
    case 'verify':
      return verifying(driver.verify(prepare), tokens)
    default:
      return verifyingSignature(driver.verifySignature(prepare), tokens)
  }
}

function offered(offers, { contract, format, alg, enc, key_handling }) {
  return offers.some(
    offer =>
      offer.format === format &&
      offer.alg === (alg ?? null) &&
      offer.enc === (enc ?? null) &&
      offer.contracts.includes(contract) &&
      offer.key_handling.includes(key_handling)
  )
}

function signing(sign, count) {
  if (count === 0) throw new Invalid('sign needs at least one claims value')
  return {
    run(iterations) {
      let checksum = 0
      for (let done = 0, index = 0; done < iterations; done++) {
        const token = sign(index)
        checksum += token.length + token.charCodeAt(token.length - 1) // tokens are ASCII
        if (++index === count) index = 0
      }
      return checksum
    },
    token(index) {
      if (!Number.isInteger(index) || index < 0 || index >= count) {
        throw new Invalid(`there is no such claims value; the pool has ${count}`)
      }
      return sign(index)
    }
  }
}

function verifying(verify, tokens) {
  return {
    run(iterations) {
      if (tokens.length === 0) throw new Invalid('prepare brought no tokens to work through')
      let checksum = 0
      for (let done = 0, index = 0; done < iterations; done++) {
        const { jti } = verify(tokens[index])
        checksum += typeof jti === 'string' && jti !== '' ? lastByte(jti) : 1
        if (++index === tokens.length) index = 0
      }
      return checksum
    },
    verify
  }
}

function verifyingSignature(verify, tokens) {
  return {
    run(iterations) {
      if (tokens.length === 0) throw new Invalid('prepare brought no tokens to work through')
      let checksum = 0
      for (let done = 0, index = 0; done < iterations; done++) {
        verify(tokens[index])
        checksum++
        if (++index === tokens.length) index = 0
      }
      return checksum
    },
    verify(token) {
      verify(token)
      return null
    }
  }
}

/** The last byte of the text's UTF-8. */
function lastByte(text) {
  const unit = text.charCodeAt(text.length - 1)
  return unit < 0x80 ? unit : Buffer.from(text).at(-1)
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

/** Yields each line as text, and null for one beyond the limit, which is read away. */
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

function written(text) {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()))
  })
}

function oneLine(error) {
  const reason = String(error?.message ?? error).replace(/\s+/g, ' ').trim()
  return reason.length > reasonLengthMax ? reason.slice(0, reasonLengthMax) + '…' : reason
}
