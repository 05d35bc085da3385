import type { Algorithm } from './algorithms.js'
import { checked, invalid } from './errors.js'
import { Key, type Jwk } from './key.js'
import { native, type Handle } from './native.js'
import { forKeySet, settings } from './options.js'

/** Options of {@link KeySet.import}. */
export interface KeySetOptions {
  /** The algorithm of keys without `alg`. */
  defaultAlgorithm?: Algorithm
  /** The set is published by another party: secret and private keys in it are skipped. */
  published?: boolean
}

/** A JWK Set (RFC 7517). */
export interface JwkSet {
  keys: Jwk[]
}

/** Several keys of one use: keys that verify, that decrypt, or that open a PASETO. */
export class KeySet {
  readonly #handle: Handle

  /** Creates a set. Of a private key for signatures, it has the public key. */
  constructor(keys: Iterable<Key>) {
    if (keys instanceof Imported) {
      this.#handle = keys.handle
      return
    }
    const handles = Array.from(keys, key => Key.handle('keys', key))
    this.#handle = checked(native.keySet(handles as Handle[]))
  }

  /** Imports a JWK Set, or PASERKs with one in each line. Keys that cannot be used are skipped. */
  static import(set: JwkSet | string, options: KeySetOptions = {}): KeySet {
    const text = typeof set === 'string' ? set : JSON.stringify(set)
    const handle = checked(native.keySetImport(text, JSON.stringify(settings(options, forKeySet))))
    return new KeySet(new Imported(handle))
  }

  /** The public keys as a JWK Set, to publish it. */
  toJwks(): JwkSet {
    return JSON.parse(checked(native.keySetExport(this.#handle, 'jwks'))) as JwkSet
  }

  /** The ids of the keys; an empty text for a key without id. */
  get ids(): string[] {
    return lines(checked(native.keySetExport(this.#handle, 'ids')))
  }

  /** Why keys were skipped when the set was read. */
  get skipped(): string[] {
    return lines(checked(native.keySetExport(this.#handle, 'skipped')))
  }

  /** Whether the keys are those of PASETO. Their ids follow from the keys. */
  get isPaseto(): boolean {
    return this.ids.some(id => /^k\d\.[lp]id\./.test(id))
  }

  /** Releases the set. Verifiers that have it keep it. Any other use is an error. */
  close(): void {
    checked(native.close(this.#handle))
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @internal */
  static handle(option: string, set: KeySet): Handle {
    if (!(set instanceof KeySet)) throw invalid(`option \`${option}\`: not a Key or a KeySet`)
    return set.#handle
  }
}

/** A set that the native part has. The constructor takes it. */
class Imported extends Array<never> {
  readonly handle: Handle

  constructor(handle: Handle) {
    super()
    this.handle = handle
  }
}

function lines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}
