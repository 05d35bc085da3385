/** A token was not accepted, or an argument was wrong. */
export class JsonWebTokenError extends Error {
  /** The cause. */
  inner?: unknown

  constructor(message: string, error?: unknown) {
    super(message)
    this.name = 'JsonWebTokenError'
    if (error) this.inner = error
  }
}

/** The token is not valid yet. */
export class NotBeforeError extends JsonWebTokenError {
  /** The time from which it is valid. */
  date: Date

  constructor(message: string, date: Date) {
    super(message)
    this.name = 'NotBeforeError'
    this.date = date
  }
}

/** The token has expired. */
export class TokenExpiredError extends JsonWebTokenError {
  /** The time of expiry. */
  expiredAt: Date

  constructor(message: string, expiredAt: Date) {
    super(message)
    this.name = 'TokenExpiredError'
    this.expiredAt = expiredAt
  }
}

/** A rule of jeton that forbids something that jsonwebtoken allows. */
export type Rule =
  | 'none'
  | 'mixed-algorithms'
  | 'weak-secret'
  | 'weak-rsa'
  | 'header-member'
  | 'key-type'
  | 'strict-token'
  | 'option'

/**
 * jeton refuses a use that jsonwebtoken allows. Correct the program. It is no {@link JsonWebTokenError}, so that code
 * for bad tokens does not hide it.
 */
export class RefusedUseError extends Error {
  /** The cause. */
  inner?: unknown
  /** The rule that was broken. The migration guide explains each rule. */
  readonly rule: Rule

  constructor(rule: Rule, message: string, error?: unknown) {
    super(message)
    this.name = 'RefusedUseError'
    this.rule = rule
    if (error) this.inner = error
  }
}

/** jeton rejects a token that jsonwebtoken accepts. */
export class RefusedTokenError extends JsonWebTokenError {
  /** The rule that the token breaks. */
  readonly rule: Rule

  constructor(rule: Rule, message: string, error?: unknown) {
    super(message, error)
    this.name = 'RefusedTokenError'
    this.rule = rule
  }
}
