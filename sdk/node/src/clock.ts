import { checked, invalid } from './errors.js'
import { native, type Handle } from './native.js'

/** A clock for tests that stands still until it is set. Pass it as `clock` to issuers and verifiers. */
export class FixedClock {
  readonly #handle: Handle
  #seconds: number

  /** Creates a clock at a time: a `Date`, or seconds since 1970. */
  constructor(time: Date | number) {
    this.#seconds = secondsOf(time)
    this.#handle = checked(native.clock(this.#seconds))
  }

  /** Sets the time for all issuers and verifiers that use the clock. */
  set(time: Date | number): void {
    const seconds = secondsOf(time)
    checked(native.clockSet(this.#handle, seconds))
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
  const seconds = time instanceof Date ? Math.floor(time.getTime() / 1000) : time
  if (!Number.isSafeInteger(seconds)) throw invalid('the time is not a whole number of seconds')
  return seconds
}
