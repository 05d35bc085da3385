import { codes, type Code } from './codes.js'
import { native, type OrProblem } from './native.js'

/** Why a call failed, or why a token was rejected. */
export class JetonError extends Error {
  /** The stable code, the same in all jeton libraries. */
  readonly code: Code
  /** The issues that a schema reported. They may contain claims, so they are not enumerable and not in the message. */
  declare readonly issues?: readonly unknown[]

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** The number of the code. */
  get number(): number {
    return codes[this.code]
  }

  /** Whether a token was rejected. Otherwise the program, its settings or its environment is the cause. */
  get isRejection(): boolean {
    return this.code.startsWith('TOKEN_')
  }
}

Object.defineProperty(JetonError.prototype, 'name', { value: 'JetonError' })

function isCode(name: string): name is Code {
  return Object.hasOwn(codes, name)
}

/** Returns the error of the last native call. */
export function failed(): JetonError {
  return problem(native.failure())
}

export function problem([code, message]: [string, string]): JetonError {
  if (code === 'INVALID_OPTION') return invalid(withOptionNames(message))
  return new JetonError(isCode(code) ? code : 'INTERNAL', message)
}

/** The names of options by the names in the core. The tables of options fill it. */
export const optionNames = new Map<string, string>()

function withOptionNames(message: string): string {
  return message.replace(/`([a-z_]+)`/g, (all, name: string) => {
    const own = optionNames.get(name)
    return own === undefined ? all : `\`${own}\``
  })
}

/** Returns an error about an invalid argument or option. */
export function invalid(message: string): JetonError {
  return new JetonError('INVALID_OPTION', message)
}

/** Returns the result of a native call, or throws its error. */
export function checked<T>(result: T | false): T {
  if (result === false) throw failed()
  return result
}

/** Returns the result of a native call in the thread pool, or throws its error. */
export async function later<T>(result: Promise<OrProblem<T>> | false): Promise<T> {
  const value = await checked(result)
  // Only an error is an array of two elements.
  if (Array.isArray(value) && value.length === 2) throw problem(value as [string, string])
  return value as T
}
