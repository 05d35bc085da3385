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
 * Returns a function that makes `structuredClone` and `postMessage` of an object fail with this message: they would
 * return an empty object. They read own enumerable properties, and `JSON.stringify` calls `toJSON` first. Objects share
 * the property, because a new one for each object would take longer than the rest of its constructor.
 */
export function withoutClones(type: { prototype: object }, message: string): (object: object) => void {
  Object.defineProperty(type.prototype, 'toJSON', { value: () => ({}) })
  const get = () => {
    throw invalid(message)
  }
  const property = { get, enumerable: true }
  return object => {
    Object.defineProperty(object, 'uncloneable', property)
  }
}
