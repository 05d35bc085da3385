/**
 * The functions of jsonwebtoken 9, implemented with jeton. Unsafe uses throw a {@link RefusedUseError}.
 *
 * @packageDocumentation
 */
import '../native.js'

export * from './api.js'
// For `import jwt from` in CommonJS. In ESM, Node creates the default export.
export * as default from './api.js'
