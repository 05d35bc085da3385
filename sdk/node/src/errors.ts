import { codes, type Code } from './codes.js'
import { native, type OrProblem } from './native.js'

/** Why a call failed, or why a token was rejected. */
export class JetonError extends Error {
  /** The code. It is stable, and the same in every language of jeton. */
  readonly code: Code
  /** What a schema found. It may repeat claims, so it is not enumerable, and not part of the message. */
  declare readonly issues?: readonly unknown[]

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** The number of the code. */
  get number(): number {
    return codes[this.code]
  }

  /** Whether a token was rejected. Else the program, its settings or its surroundings are the cause. */
  get isRejection(): boolean {
    return this.code.startsWith('TOKEN_')
  }
}

Object.defineProperty(JetonError.prototype, 'name', { value: 'JetonError' })

function isCode(name: string): name is Code {
  return Object.hasOwn(codes, name)
}

/** The error of the last native call. */
export function failed(): JetonError {
  return problem(native.failure())
}

export function problem([code, message]: [string, string]): JetonError {
  return new JetonError(isCode(code) ? code : 'INTERNAL', message)
}

/** An error about what the caller passes. */
export function invalid(message: string): JetonError {
  return new JetonError('INVALID_OPTION', message)
}

/** The result of a native call, or its error. */
export function checked<T>(result: T | false): T {
  if (result === false) throw failed()
  return result
}

/** The result of a native call in the thread pool, or its error. */
export async function later<T>(result: Promise<OrProblem<T>> | false): Promise<T> {
  const value = await checked(result)
  // Only a problem is a list of two.
  if (Array.isArray(value) && value.length === 2) throw problem(value as [string, string])
  return value as T
}
