import { types } from 'node:util'

import { checked, invalid } from './errors.js'
import { native, type Handle } from './native.js'

/** A clock for tests that stands still until it is set. Pass it as `clock` to issuers and verifiers. */
export class FixedClock {
  readonly #handle: Handle
  #seconds: number

  /** Creates a clock at a time: a `Date`, or seconds since 1970, which may have a fraction. */
  constructor(time: Date | number) {
    this.#seconds = secondsOf(time)
    this.#handle = checked(native.clock(...parts(this.#seconds)))
  }

  /** Sets the time for all issuers and verifiers that use the clock. */
  set(time: Date | number): void {
    const seconds = secondsOf(time)
    checked(native.clockSet(this.#handle, ...parts(seconds)))
    this.#seconds = seconds
  }

  /** Advances the time by this number of seconds. */
  advance(seconds: number): void {
    this.set(this.#seconds + seconds)
  }

  /** The time in seconds since 1970. */
  get seconds(): number {
    return this.#seconds
  }

  /** @internal */
  static handle(clock: FixedClock | undefined): Handle | undefined {
    if (clock === undefined) return undefined
    if (!(clock instanceof FixedClock)) throw invalid('option `clock`: not a FixedClock')
    return clock.#handle
  }
}

function secondsOf(time: Date | number): number {
  const seconds = types.isDate(time) ? time.getTime() / 1000 : time
  if (typeof seconds !== 'number' || !(Math.abs(seconds) <= Number.MAX_SAFE_INTEGER)) {
    throw invalid('the time is not a Date or a number of seconds')
  }
  return seconds
}

/** Returns whole seconds, and the microseconds of the rest, rounded. */
function parts(seconds: number): [number, number] {
  const whole = Math.floor(seconds)
  return [whole, Math.round((seconds - whole) * 1_000_000)]
}
