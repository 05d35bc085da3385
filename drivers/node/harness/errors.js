// The two error answers that are not a failure of the driver.

/** A fact about the library, not a defect. */
export class Unsupported extends Error {
  kind = 'unsupported'
}

/** An inconsistent request. */
export class Invalid extends Error {
  kind = 'invalid'
}
