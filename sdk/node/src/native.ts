// Loads the native module. It is private: the classes call it. Each entry point imports this file first, and this file
// imports nothing, so that its error is the first one in a bundle.

/** An object of the native module. */
export type Handle = { readonly native: unique symbol }

/** The result of a function, or `false` if it failed. `failure` then returns the code and the message. */
type OrFailed<T> = T | false

/** The value of a promise: the result, or the code and the message of an error. */
export type OrProblem<T> = T | [code: string, message: string]

/** The claims, the parts of the header, the times, and whether numbers may be rounded. */
export type OwnedVerified = [
  json: string,
  alg: Buffer,
  kid: Buffer | null,
  typ: Buffer | null,
  footer: Buffer | null,
  expiresAt: number,
  notBefore: number,
  issuedAt: number,
  mayBeRounded: number
]

/** A key to import. Without a format, the content determines it. */
export type ImportArguments = [
  key: string | Uint8Array,
  format: string | undefined,
  algorithm: string | undefined,
  contentEncryption: string | undefined,
  keyId: string | undefined,
  password: string | undefined
]

/** Two functions: the first verifies a token, the second returns a header part of the last verified token. */
export type VerifyFunctions = [
  verify: (token: unknown) => OrFailed<string>,
  headerPart: (index: number) => OrFailed<Buffer | null>
]

export interface Native {
  attach(prepared: Handle, signature: Uint8Array, form: string): OrFailed<string>
  clock(seconds: number, microseconds: number): OrFailed<Handle>
  clockSet(clock: Handle, seconds: number, microseconds: number): OrFailed<null>
  close(handle: Handle): OrFailed<null>
  failure(): [code: string, message: string]
  issueBytes(issuer: Handle, data: Uint8Array): OrFailed<string>
  issueBytesLater(issuer: Handle, data: Uint8Array): OrFailed<Promise<OrProblem<string>>>
  issueFunction(issuer: Handle): OrFailed<(claims: unknown) => OrFailed<string>>
  issueLater(issuer: Handle, claims: unknown): OrFailed<Promise<OrProblem<string>>>
  issuer(
    key: Handle | undefined,
    encryption: Handle | undefined,
    clock: Handle | undefined,
    settings: string
  ): OrFailed<Handle>
  keyExport(key: Handle, what: string): OrFailed<Buffer>
  keyGenerate(alg: string, settings: string): OrFailed<Handle>
  keyGenerateLater(alg: string, settings: string): OrFailed<Promise<OrProblem<Handle>>>
  keyImport(...key: ImportArguments): OrFailed<Handle>
  keyImportLater(...key: ImportArguments): OrFailed<Promise<OrProblem<Handle>>>
  keyOfPassword(
    password: string | Uint8Array,
    algorithm: string,
    keyId: string | undefined,
    rounds: number | undefined
  ): OrFailed<Handle>
  keyPublic(key: Handle): OrFailed<Handle>
  keySet(keys: Handle[]): OrFailed<Handle>
  keySetExport(set: Handle, what: string): OrFailed<string>
  keySetImport(text: string, settings: string): OrFailed<Handle>
  keyWarmUp(key: Handle): OrFailed<null>
  /** Only in builds for tests. */
  panicNext?(): OrFailed<null>
  prepare(issuer: Handle, data: Uint8Array): OrFailed<Handle>
  preparedInput(prepared: Handle, what: string): OrFailed<Buffer>
  remoteKeys(settings: string): OrFailed<Handle>
  remoteNext(remote: Handle): OrFailed<string | null>
  remoteReady(remote: Handle): OrFailed<null>
  remoteRespond(
    remote: Handle,
    id: number,
    status: number,
    headers: string,
    body: Uint8Array
  ): OrFailed<null>
  /** Returns JSON text: what a token says, which is not verified. */
  unverified(token: unknown): OrFailed<string>
  /** Returns the header of a token that the verifier has verified, as JSON text, or `null` for a PASETO. */
  verifiedHeader(verifier: Handle, token: unknown): OrFailed<string | null>
  verifier(
    key: Handle | undefined,
    set: Handle | undefined,
    decryption: Handle | undefined,
    remote: Handle | undefined,
    clock: Handle | undefined,
    settings: string
  ): OrFailed<Handle>
  verifyBytes(verifier: Handle, token: unknown, content?: Uint8Array): OrFailed<Buffer>
  verifyBytesLater(
    verifier: Handle,
    token: unknown,
    content?: Uint8Array
  ): OrFailed<Promise<OrProblem<Buffer>>>
  verifyFunctions(verifier: Handle, state: Float64Array): OrFailed<VerifyFunctions>
  verifyLater(verifier: Handle, token: unknown): OrFailed<Promise<OrProblem<OwnedVerified>>>
  /** Verifies a token of the format `jws`, whose content the caller has. */
  verifySignature(verifier: Handle, token: string): OrFailed<null>
}

/** The packages with the native module. */
const packages = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl'].map(name => `@jeton/${name}`)

/** Returns the packages whose native module may run here. npm installs one. */
function candidates(): string[] {
  const { platform, arch } = process
  if (platform === 'win32') return [`@jeton/win32-${arch}-msvc`]
  if (platform !== 'linux') return [`@jeton/${platform}-${arch}`]
  return [`@jeton/linux-${arch}-gnu`, `@jeton/linux-${arch}-musl`]
}

function load(): Native {
  const causes: unknown[] = []
  for (const name of candidates()) {
    try {
      // A variable: a bundler looks for no files.
      return require(name) as Native
    } catch (error) {
      causes.push(error)
    }
  }
  throw new AggregateError(causes, isBundled() ? bundled : explain(causes))
}

const bundled =
  'jeton is in a bundle, which cannot contain its native module. Make the package external: ' +
  'https://github.com/jeton/jeton/blob/main/sdk/node/docs/bundlers.md'

/** Explains why no native module was loaded: there is no package, npm skipped it, or the system rejects the file. */
function explain(causes: readonly unknown[]): string {
  for (const cause of causes) {
    // Deno has no code for a file that the system rejects.
    if (cause instanceof Error && !('code' in cause && cause.code === 'MODULE_NOT_FOUND')) {
      return `jeton cannot load its native module: ${cause.message.split('\n', 1)[0]}. It needs glibc 2.28 or musl 1.2, or a later version, and a folder that is not mounted noexec`
    }
  }
  const here = candidates()
  if (here.some(name => packages.includes(name))) {
    return `jeton has no native module here. Install ${here.join(' or ')}. npm skips it with --omit=optional`
  }
  return `jeton has no native module for ${process.platform}-${process.arch}. Supported: ${packages.join(', ')}`
}

/** Returns whether this code is in another file than its own. In a bundle of ES modules, `__filename` is missing. */
function isBundled(): boolean {
  return typeof __filename === 'undefined' || !/(^|[\\/])native\.js$/.test(__filename)
}

export const native = load()
