// Checks of values that may come from another realm, such as a `vm` context or jsdom: `instanceof` is false for them.
import { types } from 'node:util'

import { invalid } from './errors.js'

/** Returns whether a value is a `Uint8Array` of any realm. A `Buffer` is one. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && types.isUint8Array(value)
}

/** Returns whether a value is an object literal, or an object without a prototype, of any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === Object.prototype || prototype === null || isObjectPrototype(prototype)
}

/** Returns whether this is the `Object.prototype` of a realm. */
function isObjectPrototype(value: object): boolean {
  return Object.getPrototypeOf(value) === null && Object.hasOwn(value, 'hasOwnProperty')
}

/**
 * Makes `structuredClone` and `postMessage` of an object fail with this message: they would return an empty object. They
 * read enumerable properties, and `JSON.stringify` calls `toJSON` first.
 */
export function withoutClones(object: object, message: string): void {
  const get = () => {
    throw invalid(message)
  }
  Object.defineProperties(object, { uncloneable: { get, enumerable: true }, toJSON: { value: () => ({}) } })
}
