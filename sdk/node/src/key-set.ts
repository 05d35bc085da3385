import { checked, invalid } from './errors.js'
import { Key, type Jwk } from './key.js'
import { native, type Handle } from './native.js'
import { forKeySet, settings } from './options.js'
import type { PlatformKey } from './platform-keys.js'
import type { KeySetOptions } from './settings.js'
import { withoutClones } from './values.js'

/** A JWK Set (RFC 7517). */
export interface JwkSet {
  keys: Jwk[]
}

/** Several keys with the same use: verification, decryption or PASETO. */
export class KeySet {
  static readonly #withoutClones = withoutClones(this, 'a KeySet cannot be cloned: clone set.toJwks()')
  readonly #handle: Handle

  /** Creates a set. Of private signature keys, it contains the public keys. */
  constructor(keys: Iterable<Key | PlatformKey>) {
    KeySet.#withoutClones(this)
    if (keys instanceof Imported) {
      this.#handle = keys.handle
      return
    }
    const handles = Array.from(keys as Iterable<Key | PlatformKey>, key => Key.handle(Key.of('keys', key))!)
    this.#handle = checked(native.keySet(handles))
  }

  /** Imports a JWK Set, or PASERKs, one per line. Unusable keys are skipped. */
  static import(set: JwkSet | string, options: KeySetOptions = {}): KeySet {
    const text = typeof set === 'string' ? set : JSON.stringify(set)
    const handle = checked(native.keySetImport(text, JSON.stringify(settings(options, forKeySet))))
    return new KeySet(new Imported(handle))
  }

  /** Returns the public keys as a JWK Set for publication. */
  toJwks(): JwkSet {
    return JSON.parse(checked(native.keySetExport(this.#handle, 'jwks'))) as JwkSet
  }

  /** The ids of the keys. A key without an id has an empty string. */
  get ids(): string[] {
    return lines(checked(native.keySetExport(this.#handle, 'ids')))
  }

  /** The reasons why keys were skipped during the import. */
  get skipped(): string[] {
    return lines(checked(native.keySetExport(this.#handle, 'skipped')))
  }

  /** Whether these are PASETO keys. Their ids are derived from the keys. */
  get isPaseto(): boolean {
    return this.ids.some(id => /^k\d\.[lp]id\./.test(id))
  }

  /** Closes the set. Verifiers that use it keep it. Any other use is an error. */
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

/** An imported set, which the constructor takes. */
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
