import { JetonError, invalid } from './errors.js'

/** What a schema library implements (Standard Schema 1): zod, valibot, arktype and others. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** What a schema returns. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly unknown[] }

/** Checks the claims: a schema, or a function that returns them or throws. */
export type ClaimsSchema<T> = StandardSchema<T> | ((claims: unknown) => T)

export type Check<T> = (claims: unknown) => T | Promise<T>

/** The function that checks the claims. */
export function checkOf<T>(schema: ClaimsSchema<T>): Check<T> {
  if (typeof schema === 'function' && !('~standard' in schema)) {
    return claims => {
      try {
        return schema(claims)
      } catch (cause) {
        throw mismatch(undefined, cause)
      }
    }
  }
  const standard = (schema as StandardSchema<T>)?.['~standard']
  if (typeof standard?.validate !== 'function') {
    throw invalid('option `schema`: not a schema (Standard Schema 1) or a function')
  }
  return claims => {
    const result = standard.validate(claims)
    return result instanceof Promise ? result.then(found) : found(result)
  }
}

function found<T>(result: SchemaResult<T>): T {
  if (result.issues) throw mismatch(result.issues)
  return result.value
}

function mismatch(issues: readonly unknown[] | undefined, cause?: unknown): JetonError {
  const error = new JetonError('TOKEN_CLAIMS_SHAPE', 'the claims do not match the schema')
  // Both may repeat claims, so that a log of the error does not show them.
  for (const [name, value] of Object.entries({ issues, cause })) {
    if (value !== undefined) Object.defineProperty(error, name, { value, enumerable: false })
  }
  return error
}
