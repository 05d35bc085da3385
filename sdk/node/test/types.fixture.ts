// The expected types. `docs.test.mjs` compiles this file.
import { createSecretKey, webcrypto } from 'node:crypto'
import { Issuer, JetonError, Key, MultiIssuerVerifier, RemoteKeySet, Verifier, readUnverified } from 'jeton'
import type { Code, RemoteFetch, Verified } from 'jeton'
import { authenticator } from 'jeton/bearer'
import * as valibot from 'valibot'
import * as zod from 'zod'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
const is = <T extends true>(value?: T) => value

const key = Key.generate('HS256')
const setting = { keys: key, issuer: 'https://id.example', audience: 'api' }

const plain = new Verifier(setting).verify('')
is<Same<typeof plain.claims, Record<string, unknown>>>()
is<Same<typeof plain.subject, string | undefined>>()
is<Same<typeof plain.expiresAt, Date | undefined>>()

const typed: Verified<{ page: string }> = new Verifier<{ page: string }>(setting).verify('')
is<Same<typeof typed.claims.page, string>>()

const byZod = new Verifier({ ...setting, schema: zod.object({ n: zod.coerce.number() }) }).verify('')
is<Same<typeof byZod.claims, { n: number }>>()
const byValibot = new Verifier({ ...setting, schema: valibot.object({ n: valibot.number() }) }).verify('')
is<Same<typeof byValibot.claims, { n: number }>>()
const byFunction = new Verifier({ ...setting, schema: (claims: unknown) => [claims] }).verify('')
is<Same<typeof byFunction.claims, unknown[]>>()

const later = async () => {
  const schema = async (_: unknown) => ({ n: 1 })
  const verified = await new Verifier({ ...setting, schema }).verifyAsync('')
  is<Same<typeof verified.claims, { n: number }>>()
}

const client: RemoteFetch = async (url, { publicOnly, ...init }) => {
  is<Same<typeof publicOnly, boolean>>()
  return fetch(url, init)
}
const sets = [client, fetch, globalThis.fetch].map(one => new RemoteKeySet({ issuer: 'https://id.example', fetch: one }))

const several = new MultiIssuerVerifier<{ page: string }>([{ ...setting, schema: claims => claims as { page: string } }])
is<Same<ReturnType<typeof several.verify>, Verified<{ page: string }>>>()
const authenticate = authenticator({ verifier: several })
const requests = async () => {
  const { verified, refusal } = await authenticate(new Request('http://localhost/'))
  is<Same<typeof verified, Verified<{ page: string }> | undefined>>()
  return refusal && Response.json(refusal.body, refusal)
}
const unverified = readUnverified('').claims
is<Same<typeof unverified, Readonly<Record<string, unknown>> | null>>()
// @ts-expect-error not a Verified
const claims: Verified = readUnverified('')
// @ts-expect-error no issuer
new MultiIssuerVerifier([{ keys: key, anyAudience: true }])
// @ts-expect-error any issuer
new MultiIssuerVerifier([{ ...setting, anyIssuer: true }])

const keys = async () => {
  const pair = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  new Verifier({ ...setting, keys: [pair.publicKey, createSecretKey(Buffer.alloc(32))] })
  return new Issuer({ key: pair.privateKey }).issue(claims)
}

// @ts-expect-error unknown algorithm
Key.generate('none')
// @ts-expect-error unknown option
new Issuer({ key, lifetme: 5 })
// @ts-expect-error not a duration
new Issuer({ key, lifetime: '15 minutes' })
// @ts-expect-error claims must be an object
new Issuer({ key }).issue('text')
// @ts-expect-error der returns bytes
const text: string = key.insecureExport('der')

const code = (error: JetonError): Code => error.code
export const uses = [text, code, byZod, byValibot, byFunction, typed, later, sets, requests, keys]
