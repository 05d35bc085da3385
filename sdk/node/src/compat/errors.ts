/** Why a token was not accepted, or an argument was wrong. */
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
  /** When it is. */
  date: Date

  constructor(message: string, date: Date) {
    super(message)
    this.name = 'NotBeforeError'
    this.date = date
  }
}

/** The token has expired. */
export class TokenExpiredError extends JsonWebTokenError {
  /** When it did. */
  expiredAt: Date

  constructor(message: string, expiredAt: Date) {
    super(message)
    this.name = 'TokenExpiredError'
    this.expiredAt = expiredAt
  }
}

/** The rule by which jeton refuses what jsonwebtoken allows. */
export type Rule =
  | 'none'
  | 'mixed-algorithms'
  | 'weak-secret'
  | 'weak-rsa'
  | 'header-member'
  | 'key-type'
  | 'strict-token'

/** jsonwebtoken allows it, and jeton does not. */
export class RefusedUseError extends JsonWebTokenError {
  /** Why. The page about migration explains each rule. */
  readonly rule: Rule

  constructor(rule: Rule, message: string, error?: unknown) {
    super(message, error)
    this.name = 'RefusedUseError'
    this.rule = rule
  }
}
