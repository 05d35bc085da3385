import { invalid, optionNames } from './errors.js'

/** A duration: seconds, or a string such as `15m` (`s`, `m`, `h`, `d`). */
export type Duration = number | `${number}${'s' | 'm' | 'h' | 'd'}`

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 }

function seconds(name: string, value: unknown): number {
  let found: number | undefined
  if (typeof value === 'number') found = value
  else if (typeof value === 'string') {
    const parts = /^(\d{1,9})([smhd])$/.exec(value)
    if (parts) found = Number(parts[1]) * units[parts[2]!]!
  }
  if (found === undefined || !Number.isSafeInteger(found) || found < 0) {
    throw invalid(`option \`${name}\`: not a whole number of seconds or a string such as "15m"`)
  }
  return found
}

function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalid(`option \`${name}\`: not true or false`)
  return value
}

function count(name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalid(`option \`${name}\`: not a whole number`)
  }
  return value
}

export function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(`option \`${name}\`: not a string`)
  if (!value.isWellFormed()) throw invalid(`option \`${name}\`: contains a lone surrogate`)
  return value
}

function texts(name: string, value: unknown): string | string[] {
  return Array.isArray(value) ? value.map(one => text(name, one)) : text(name, value)
}

function list(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw invalid(`option \`${name}\`: not a list of strings`)
  return value.map(one => text(name, one))
}

type Read = (name: string, value: unknown) => unknown

/** Option names of this library, with the name in the core and the function that reads the value. */
export type Table = Record<string, readonly [name: string, read: Read]>

/** An option that is not passed to the core. */
const localOnly = ['', () => undefined] as const

const limits: Table = {
  tokenBytes: ['token_bytes', count],
  headerBytes: ['header_bytes', count],
  jsonDepth: ['json_depth', count],
  keyIdBytes: ['key_id_bytes', count],
  keysTried: ['keys_tried', count]
}

export const forGenerate: Table = {
  keyId: ['kid', text],
  rsaBits: ['rsa_bits', count],
  curve: ['crv', text],
  contentEncryption: ['enc', text]
}

export const forImport: Table = {
  algorithm: ['alg', text],
  contentEncryption: ['enc', text],
  keyId: ['kid', text],
  password: ['password', text]
}

export const forPassword: Table = {
  keyId: ['kid', text],
  rounds: ['rounds', count]
}

export const forKeySet: Table = {
  defaultAlgorithm: ['default_alg', text],
  published: ['published', flag]
}

export const forIssuer: Table = {
  key: localOnly,
  encryption: localOnly,
  clock: localOnly,
  format: ['format', text],
  issuer: ['issuer', text],
  audience: ['audience', texts],
  lifetime: ['lifetime', seconds],
  withoutExpiry: ['without_expiry', flag],
  issuedAgo: ['issued_ago', seconds],
  type: ['typ', text],
  contentType: ['cty', text],
  accessTokens: ['access_tokens', flag],
  contentEncryption: ['enc', text],
  detached: ['detached', flag],
  unencoded: ['unencoded', flag],
  serialization: ['serialization', text],
  footer: ['footer', text],
  implicitAssertion: ['implicit_assertion', text]
}

export const forVerifier: Table = {
  keys: localOnly,
  decryption: localOnly,
  clock: localOnly,
  schema: localOnly,
  largeNumbers: localOnly,
  format: ['format', text],
  issuer: ['issuer', texts],
  anyIssuer: ['any_issuer', flag],
  audience: ['audience', texts],
  anyAudience: ['any_audience', flag],
  withoutExpiry: ['without_expiry', flag],
  type: ['typ', texts],
  accessTokens: ['access_tokens', flag],
  required: ['required', list],
  leeway: ['leeway', seconds],
  maxAge: ['max_age', seconds],
  contentEncryption: ['enc', texts],
  serialization: ['serialization', text],
  footer: ['footer', text],
  implicitAssertion: ['implicit_assertion', text],
  cache: ['cache', count],
  limits: ['limits', (_, value) => settings(value, limits)]
}

export const forRemoteKeys: Table = {
  fetch: localOnly,
  address: ['address', text],
  issuer: ['issuer', text],
  defaultAlgorithm: ['default_alg', text],
  allowPrivateAddresses: ['allow_private_addresses', flag],
  freshFor: ['fresh_for', seconds],
  cooldown: ['cooldown', seconds],
  usableFor: ['usable_for', seconds]
}

export const forBearer: Table = {
  verifier: localOnly,
  scopes: ['scopes', list],
  realm: ['realm', text],
  optional: ['optional', flag]
}

for (const table of [limits, forGenerate, forImport, forPassword, forKeySet, forIssuer, forVerifier, forRemoteKeys]) {
  for (const [own, [name]] of Object.entries(table)) optionNames.set(name, own)
}

/** Converts options to settings of the core. Unknown options are errors, so none is silently ignored. */
export function settings(options: unknown, table: Table): Record<string, unknown> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('the options are not an object')
  }
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!Object.hasOwn(table, name)) throw invalid(`option \`${name}\`: unknown`)
    const [to, read] = table[name]!
    if (to !== '') found[to] = read(name, value)
  }
  return found
}
