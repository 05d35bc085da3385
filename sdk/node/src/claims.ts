import { JetonError, invalid } from './errors.js'

/**
 * What happens to whole numbers above 2^53 - 1, which a `number` cannot hold: the token is rejected, or the claim is a
 * `bigint`.
 */
export type LargeNumbers = 'reject' | 'bigint'

export function largeNumbersOf(value: unknown): LargeNumbers {
  if (value === undefined || value === 'reject') return 'reject'
  if (value === 'bigint') return 'bigint'
  throw invalid('option `largeNumbers`: not "reject" or "bigint"')
}

/** A text, or a number outside of texts. */
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Reads claims of which the core says that a number may be too large. They are strict JSON. */
export function readLargeNumbers(json: string, mode: LargeNumbers): unknown {
  let marker = 'bigint:'
  while (json.includes(marker)) marker = `.${marker}`
  let found = false
  const text = json.replace(textOrNumber, part => {
    if (part.startsWith('"') || !isTooLarge(part)) return part
    found = true
    if (mode === 'reject' || !isWhole(part)) throw tooLarge()
    return `"${marker}${part}"`
  })
  if (!found) return JSON.parse(json)
  return JSON.parse(text, (_, value: unknown) => {
    const isMarked = typeof value === 'string' && value.startsWith(marker)
    return isMarked ? BigInt(value.slice(marker.length)) : value
  })
}

function isWhole(number: string): boolean {
  return /^-?\d+$/.test(number)
}

function isTooLarge(number: string): boolean {
  const value = Number(number)
  return isWhole(number) ? !Number.isSafeInteger(value) : !Number.isFinite(value)
}

function tooLarge(): JetonError {
  return new JetonError(
    'TOKEN_CLAIMS_SHAPE',
    'a number of the claims is too large for JavaScript: see the option largeNumbers'
  )
}
