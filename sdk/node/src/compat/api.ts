export { decode } from './decode.js'
export {
  JsonWebTokenError,
  NotBeforeError,
  RefusedTokenError,
  RefusedUseError,
  TokenExpiredError,
  type Rule
} from './errors.js'
export { sign } from './sign.js'
export type {
  Algorithm,
  DecodeOptions,
  GetPublicKey,
  Jwt,
  JwtHeader,
  JwtPayload,
  Secret,
  SignCallback,
  SignOptions,
  VerifyCallback,
  VerifyOptions
} from './types.js'
export { verify } from './verify.js'
