import { invalid, optionNames } from './errors.js'
import {
  ofGeneratedKey,
  ofImportedKey,
  ofIssuer,
  ofKeySet,
  ofLimits,
  ofRemoteKeySet,
  ofVerifier,
  type Kind,
  type Settings
} from './settings.js'

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

function object(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`option \`${name}\`: not an object`)
  }
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    throw invalid(`option \`${name}\`: has a value that is not JSON`)
  }
}

const readers: Record<Kind, (name: string, value: unknown) => unknown> = {
  flag,
  text,
  texts,
  list,
  object,
  seconds,
  count,
  limits: (_, value) => settings(value, ofLimits)
}

/** Options that are not passed to the core. */
function local(...names: string[]): Settings {
  return Object.fromEntries(names.map(name => [name, ['', 'text']] as const))
}

const { rounds, ...ofEncodedKey } = ofImportedKey

export const forGenerate: Settings = ofGeneratedKey
export const forImport: Settings = ofEncodedKey
export const forPassword: Settings = { keyId: ofImportedKey.keyId, rounds }
export const forKeySet: Settings = ofKeySet
export const forIssuer: Settings = { ...ofIssuer, ...local('key', 'encryption', 'clock') }
export const forVerifier: Settings = {
  ...ofVerifier,
  ...local('keys', 'decryption', 'clock', 'schema', 'largeNumbers')
}
export const forVerify: Settings = local('signal')
export const forRemoteKeys: Settings = { ...ofRemoteKeySet, ...local('fetch', 'proxy') }

export const forBearer: Settings = {
  scopes: ['scopes', 'list'],
  realm: ['realm', 'text'],
  optional: ['optional', 'flag'],
  ...local('verifier')
}

const tables: Settings[] = [
  ofLimits,
  ofGeneratedKey,
  ofImportedKey,
  ofKeySet,
  ofIssuer,
  ofVerifier,
  ofRemoteKeySet
]
for (const table of tables) {
  for (const [own, [name]] of Object.entries(table)) optionNames.set(name, own)
}

/** Converts options to settings of the core. Unknown options are errors, so none is silently ignored. */
export function settings(options: unknown, table: Settings): Record<string, unknown> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('the options are not an object')
  }
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!Object.hasOwn(table, name)) throw invalid(`option \`${name}\`: unknown`)
    const [to, kind] = table[name]!
    if (to !== '') found[to] = readers[kind](name, value)
  }
  return found
}
