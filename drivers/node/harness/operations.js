// The operations of the driver protocol: from a driver's function for one token or key to the timed
// loop with its checksum.
import { Invalid, Unsupported } from './errors.js'

/**
 * Creates the operation of a `prepare` request:
 *   run(iterations)   returns a promise of the checksum
 *   token(index)      for operations that make tokens
 *   verify(token)     for operations that verify tokens; returns the claims, or null if none are decoded
 */
export async function operationOf(driver, request) {
  const { contract: operation } = request
  if (!offered(driver.offers, request)) {
    const { format, alg, enc, key_handling } = request
    const what = [format, alg, enc].filter(Boolean).join(' ')
    throw new Unsupported(
      `${driver.library} does not offer ${what} with ${key_handling} keys for ${operation}`
    )
  }
  const prepare = {
    ...request,
    keys: request.keys ?? {},
    claims: { name: request.claims?.name, values: request.claims?.values ?? [] },
    // A caller that uses a library's defaults requires no issuer and no audience.
    policy: request.practice === 'defaults' ? {} : (request.policy ?? {})
  }
  const tokens = request.tokens ?? []
  const count = prepare.claims.values.length
  const encrypted = request.format === 'jwe'
  switch (operation) {
    case 'sign':
      return making(await driver.sign(prepare), count)
    case 'encrypt':
      return making(await driver.encrypt(prepare), count)
    case 'verify':
      return opening(await verifierOf(driver, prepare), tokens)
    case 'decrypt':
      return opening(await driver.decrypt(prepare), tokens)
    case 'verify-signature':
      return checking(await driver.verifySignature(prepare), tokens)
    case 'round-trip': {
      const make = await (encrypted ? driver.encrypt(prepare) : driver.sign(prepare))
      const open = await (encrypted ? driver.decrypt(prepare) : driver.verify(prepare))
      return goingRound(make, open, count)
    }
    case 'generate-key':
      return gettingKeys(await driver.generateKey(prepare))
    default:
      if (!request.key_text) throw new Invalid('load-key needs key_text')
      return gettingKeys(await driver.loadKey(prepare))
  }
}

/** Returns the verifier, or with `cached` several, of which the second argument names one. */
async function verifierOf(driver, prepare) {
  if (!prepare.cached) return driver.verify(prepare)
  const all = await Promise.all(prepare.cached.map(one => driver.verify({ ...prepare, ...one })))
  return (token, verifier) => all[verifier](token)
}

function offered(offers, { contract: operation, format, alg, enc, key_handling }) {
  return offers.some(offer => {
    const handlings = operation === 'load-key' ? (offer.key_text ?? []) : offer.key_handling
    return (
      offer.format === format &&
      offer.alg === (alg ?? null) &&
      offer.enc === (enc ?? null) &&
      offer.contracts.includes(operation) &&
      handlings.includes(key_handling)
    )
  })
}

function making(make, count) {
  needClaims(count)
  return {
    run: loop(count, index => after(make(index), ofToken)),
    token: oneOf(make, count)
  }
}

function opening(open, tokens) {
  return {
    run: loop(tokens.length, index => after(open(tokens[index]), ofClaims)),
    verify: open
  }
}

function checking(check, tokens) {
  return {
    run: loop(tokens.length, index => after(check(tokens[index]), () => 1)),
    verify: token => after(check(token), () => null)
  }
}

function goingRound(make, open, count) {
  needClaims(count)
  const round = token => {
    const made = ofToken(token)
    return after(open(token), claims => made + ofClaims(claims))
  }
  return {
    run: loop(count, index => after(make(index), round)),
    token: oneOf(make, count)
  }
}

function gettingKeys(get) {
  const one = key => {
    if (key === null || key === undefined) throw new Error('the library gave no key')
    return 1
  }
  return { run: loop(1, () => after(get(), one)) }
}

/**
 * Returns the timed loop. It cycles through a pool of `count` entries and sums what `operation`
 * returns for each index. A promise is awaited before the next operation begins, as by a caller
 * that needs one token. A number is not awaited.
 */
function loop(count, operation) {
  return async iterations => {
    if (count === 0) throw new Invalid('prepare has no tokens')
    let checksum = 0
    for (let done = 0, index = 0; done < iterations; done++) {
      const part = operation(index)
      checksum += part instanceof Promise ? await part : part
      if (++index === count) index = 0
    }
    return checksum
  }
}

/** Applies `then` to a value, or to the result of a promise. */
function after(value, then) {
  return value instanceof Promise ? value.then(then) : then(value)
}

function oneOf(make, count) {
  return index => {
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw new Invalid(`the index is outside the pool of ${count} claims values`)
    }
    return make(index)
  }
}

function needClaims(count) {
  if (count === 0) throw new Invalid('this operation needs at least one claims value')
}

function ofToken(token) {
  return token.length + token.charCodeAt(token.length - 1) // tokens are ASCII
}

function ofClaims({ jti }) {
  return typeof jti === 'string' && jti !== '' ? lastByte(jti) : 1
}

/** Returns the last byte of the text's UTF-8. */
function lastByte(text) {
  const unit = text.charCodeAt(text.length - 1)
  return unit < 0x80 ? unit : Buffer.from(text).at(-1)
}
