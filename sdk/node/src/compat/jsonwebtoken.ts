/**
 * The functions of jsonwebtoken 9, over jeton. What is unsafe is refused with a {@link RefusedUseError}.
 *
 * @packageDocumentation
 */
export * from './api.js'
// For `import jwt from` in CommonJS. In ESM, Node makes the default export.
export * as default from './api.js'
