import { JetonError, invalid } from './errors.js'

/**
 * The handling of integers above 2^53 - 1, which a `number` cannot represent: the token is rejected, or the claim
 * becomes a `bigint`.
 */
export type LargeNumbers = 'reject' | 'bigint'

export function largeNumbersOf(value: unknown): LargeNumbers {
  if (value === undefined || value === 'reject') return 'reject'
  if (value === 'bigint') return 'bigint'
  throw invalid('option `largeNumbers`: not "reject" or "bigint"')
}

/** Matches the start of a string, or a number outside of strings. */
const startOrNumber = /"|-?\d[\d.eE+-]*/g

/** Parses claims, strict JSON, in which the core found a number that may be too large. */
export function readLargeNumbers(json: string, mode: LargeNumbers): unknown {
  try {
    if (!hasLargeNumber(json)) return JSON.parse(json)
    if (mode === 'reject') throw tooLarge()
    return JSON.parse(withoutLargeNumbers(json), (_, value: unknown) => {
      if (typeof value !== 'string') return value
      return value.startsWith('n') ? BigInt(value.slice(1)) : value.slice(1)
    })
  } catch (error) {
    // Errors of `JSON.parse` and `BigInt` contain claims.
    throw error instanceof JetonError ? error : tooLarge()
  }
}

/** Calls `onText` and `onNumber` with the position of each string and number. */
function scan(
  json: string,
  onText: (start: number, end: number) => void,
  onNumber: (part: string, start: number) => void
): void {
  startOrNumber.lastIndex = 0
  for (let found = startOrNumber.exec(json); found; found = startOrNumber.exec(json)) {
    const [part] = found
    if (part !== '"') {
      onNumber(part, found.index)
      continue
    }
    const end = endOfText(json, found.index + 1)
    onText(found.index, end)
    startOrNumber.lastIndex = end
  }
}

/** Returns the position after the closing quotation mark of a string. */
function endOfText(json: string, start: number): number {
  for (let at = start; ; ) {
    const quote = json.indexOf('"', at)
    if (quote < 0) return json.length
    let slashes = 0
    while (json.charAt(quote - 1 - slashes) === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

function hasLargeNumber(json: string): boolean {
  let found = false
  scan(json, () => {}, part => (found ||= isLarge(part)))
  return found
}

/**
 * Replaces each large number by a string with the prefix `n`. All other string values get the prefix `s`, so no claim
 * can be mistaken for a number.
 */
function withoutLargeNumbers(json: string): string {
  const parts: string[] = []
  let done = 0
  const replace = (start: number, end: number, by: string) => {
    parts.push(json.slice(done, start), by)
    done = end
  }
  scan(
    json,
    (start, end) => {
      colon.lastIndex = end
      if (!colon.test(json)) replace(start, start + 1, '"s')
    },
    (part, start) => {
      if (isLarge(part)) replace(start, start + part.length, `"n${digitsOf(part)}"`)
    }
  )
  return parts.join('') + json.slice(done)
}

/** Matches the colon after a member name. */
const colon = /[ \t\n\r]*:/y

const wholeParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Splits an integer into its sign, its digits and the number of zeros after them. */
function wholeOf(number: string): { sign: string; digits: string; zeros: number } | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = wholeParts.exec(number) ?? []
  const all = whole + fraction
  const digits = all.replace(/0+$/, '')
  const zeros = Number(exponent) - fraction.length + all.length - digits.length
  return zeros < 0 ? undefined : { sign, digits, zeros }
}

/** Returns whether this is an integer above 2^53 - 1, in any notation. */
function isLarge(number: string): boolean {
  return !(Math.abs(Number(number)) <= Number.MAX_SAFE_INTEGER) && wholeOf(number) !== undefined
}

/** The number of digits of the largest `number`, about 1.8e308. */
const digitsOfExponent = 309

/** Returns the digits of a large integer. An exponent may add few, so that a short token cannot use much memory. */
function digitsOf(number: string): string {
  const { sign, digits, zeros } = wholeOf(number)!
  if (digits.length + zeros > Math.max(number.length, digitsOfExponent)) throw tooLarge()
  return sign + digits + '0'.repeat(zeros)
}

function tooLarge(): JetonError {
  return new JetonError(
    'TOKEN_CLAIMS_SHAPE',
    'a number in the claims is too large for JavaScript: see the option largeNumbers'
  )
}
