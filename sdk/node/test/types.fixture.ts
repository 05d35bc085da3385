// The expected types. `docs.test.mjs` compiles this file.
import { Issuer, JetonError, Key, RemoteKeySet, Verifier, type Code, type RemoteFetch, type Verified } from 'jeton'
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
export const uses = [text, code, byZod, byValibot, byFunction, typed, later, sets]
