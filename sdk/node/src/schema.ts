import { JetonError, invalid } from './errors.js'

/** The interface of schema libraries such as zod, valibot and arktype (Standard Schema 1). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The result of a schema. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly unknown[] }

/** A check of the claims: a schema, or a function that returns the claims or throws. */
export type ClaimsSchema<T> = StandardSchema<T> | ((claims: unknown) => T | Promise<T>)

export type Check<T> = (claims: unknown) => T | Promise<T>

/** Returns the function that checks the claims. */
export function checkOf<T>(schema: ClaimsSchema<T>): Check<T> {
  if (typeof schema === 'function' && !('~standard' in schema)) return guarded(schema, value => value)
  const standard = (schema as StandardSchema<T>)?.['~standard']
  if (typeof standard?.validate !== 'function') {
    throw invalid('option `schema`: not a schema (Standard Schema 1) or a function')
  }
  return guarded(claims => standard.validate(claims), found)
}

/** Turns everything that `check` throws, now or later, into a mismatch, because it may contain claims. */
function guarded<R, T>(check: (claims: unknown) => R | Promise<R>, then: (result: R) => T): Check<T> {
  const failed = (cause: unknown): never => {
    throw mismatch(undefined, cause)
  }
  return claims => {
    let result: R | Promise<R>
    try {
      result = check(claims)
    } catch (cause) {
      return failed(cause)
    }
    // A promise may come from another realm.
    return isPromise(result) ? Promise.resolve(result).catch(failed).then(then) : then(result)
  }
}

function isPromise<R>(result: R | Promise<R>): result is Promise<R> {
  return typeof (result as Promise<R> | null | undefined)?.then === 'function'
}

function found<T>(result: SchemaResult<T> | null | undefined): T {
  if (!result || result.issues) throw mismatch(result?.issues)
  return result.value
}

function mismatch(issues: readonly unknown[] | undefined, cause?: unknown): JetonError {
  const paths = [...new Set((issues ?? []).map(pathOf).filter(path => path !== ''))].slice(0, 10).join(', ')
  const error = new JetonError('TOKEN_CLAIMS_SHAPE', `the claims do not match the schema${paths && `: ${paths}`}`)
  // Both may contain claims, so a log of the error must not show them.
  for (const [name, value] of Object.entries({ issues, cause })) {
    if (value !== undefined) Object.defineProperty(error, name, { value, enumerable: false })
  }
  return error
}

/** Returns the path of an issue (Standard Schema 1), unless a name in it may be more than a name. */
function pathOf(issue: unknown): string {
  const path = (issue as { path?: unknown } | null | undefined)?.path
  if (!Array.isArray(path)) return ''
  const names = path.map((part: unknown) => {
    const key: unknown = typeof part === 'object' && part !== null ? (part as { key?: unknown }).key : part
    return typeof key === 'number' || typeof key === 'string' ? `${key}` : ''
  })
  return names.every(name => /^[\w$:/-]{1,64}$/.test(name)) ? names.join('.') : ''
}
