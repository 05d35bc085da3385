import { types } from 'node:util'

import { isPlainObject } from '../values.js'
import { JsonWebTokenError, RefusedUseError } from './errors.js'
import { timespan } from './timespan.js'
import type { DecodeOptions, VerifyOptions } from './types.js'

/** Returns what is wrong with the value of an option, or nothing. */
type Check = (value: unknown) => string | undefined

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const text: Check = value => (isText(value) ? undefined : 'must be a string that is not empty')

const flag: Check = value => (typeof value === 'boolean' ? undefined : 'must be a boolean')

/** jsonwebtoken ignores NaN, and adds a string to a number as text. */
const seconds: Check = value => {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
    ? undefined
    : 'must be a finite number of seconds, 0 or more'
}

/** jsonwebtoken takes the system clock instead of 0. With the year 1970, a token that it rejects would be accepted. */
const moment: Check = value => {
  return value === 0 ? 'must be more than 0: leave it out to use the system clock' : seconds(value)
}

function oneOrList(is: (value: unknown) => boolean, what: string): Check {
  return value => {
    const all: unknown[] = Array.isArray(value) ? value : [value]
    return all.length > 0 && all.every(is) ? undefined : `must be ${what}, or a list of them that is not empty`
  }
}

/** A regular expression with the flag `g` or `y` has a state: it matches every other time. */
const isPattern = (value: unknown) => types.isRegExp(value) && !value.global && !value.sticky

const algorithms: Check = value => {
  return Array.isArray(value) && value.length > 0 && value.every(isText)
    ? undefined
    : 'must be a list of strings that is not empty'
}

/** A string without a unit counts milliseconds. */
export const withoutUnit = (value: unknown) => typeof value === 'string' && /^\s*-?\d*\.?\d+\s*$/.test(value)

const maxAge: Check = value => {
  if (withoutUnit(value)) return 'without a unit counts milliseconds: write "60s", or a number of seconds'
  const age = typeof value === 'number' || isText(value) ? timespan(value, 0) : undefined
  if (age === undefined || !Number.isFinite(age)) {
    return 'should be a number of seconds or string representing a timespan eg: "1d", "20h", 60'
  }
  return age > 0 ? undefined : 'must be positive'
}

const verifyChecks: Record<keyof VerifyOptions, Check> = {
  algorithms,
  audience: oneOrList(value => isText(value) || isPattern(value), 'a string or a RegExp without the flags g and y'),
  clockTimestamp: moment,
  clockTolerance: seconds,
  complete: flag,
  issuer: oneOrList(isText, 'a string'),
  ignoreExpiration: flag,
  ignoreNotBefore: flag,
  jwtid: text,
  nonce: text,
  subject: text,
  maxAge,
  allowInsecureKeySizes: flag,
  allowInvalidAsymmetricKeyTypes: flag
}

/** Returns the options of `verify`, which are checked: jsonwebtoken ignores unknown names and many wrong values. */
export function checkedVerifyOptions(given: unknown): VerifyOptions {
  const options: VerifyOptions = objectOf(given)
  checkAsOriginal(options)
  check('verify', verifyChecks, options)
  return options
}

const decodeChecks: Record<keyof DecodeOptions, Check> = { complete: flag, json: flag }

/** The same for `decode`. */
export function checkedDecodeOptions(given: unknown): DecodeOptions {
  const options: DecodeOptions = objectOf(given)
  check('decode', decodeChecks, options)
  return options
}

function objectOf(given: unknown): object {
  if (given === undefined || given === null) return {}
  if (!isPlainObject(given)) throw wrongOption('the options are not an object')
  return { ...given }
}

function check(method: string, checks: Record<string, Check>, options: object): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const own = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (own === undefined) throw wrongOption(`"${name}" is not an option of ${method}${hintOf(method, name)}`)
    const wrong = value === undefined ? undefined : own(value)
    if (wrong !== undefined) throw wrongOption(`"${name}" ${wrong}`)
  }
}

function hintOf(method: string, name: string): string {
  return method === 'decode' && Object.hasOwn(verifyChecks, name) ? ', which verifies nothing: use verify' : ''
}

/** The checks of jsonwebtoken, with its errors. */
function checkAsOriginal({ clockTimestamp, nonce, allowInvalidAsymmetricKeyTypes }: VerifyOptions): void {
  if (clockTimestamp && typeof clockTimestamp !== 'number') {
    throw new JsonWebTokenError('clockTimestamp must be a number')
  }
  if (nonce !== undefined && (typeof nonce !== 'string' || nonce.trim() === '')) {
    throw new JsonWebTokenError('nonce must be a non-empty string')
  }
  if (allowInvalidAsymmetricKeyTypes !== undefined && typeof allowInvalidAsymmetricKeyTypes !== 'boolean') {
    throw new JsonWebTokenError('allowInvalidAsymmetricKeyTypes must be a boolean')
  }
}

export function wrongOption(message: string): RefusedUseError {
  return new RefusedUseError('option', message)
}
