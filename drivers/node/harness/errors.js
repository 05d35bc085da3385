// The two answers of a driver that are no failure of it.

/** A fact about the library, which is no defect. */
export class Unsupported extends Error {
  kind = 'unsupported'
}

/** A request that makes no sense. */
export class Invalid extends Error {
  kind = 'invalid'
}
