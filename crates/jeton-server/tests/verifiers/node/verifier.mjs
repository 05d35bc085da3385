// Verifies tokens as a service in Node does, with jose's createRemoteJWKSet.
//
// Called with the key set's URL, the issuer, the audience, and how many seconds the key set is kept.
// A token a line comes in; "ok SUBJECT" or "error WHY" goes out.
import { createInterface } from 'node:readline'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const [url, issuer, audience, seconds] = process.argv.slice(2)
const keys = createRemoteJWKSet(new URL(url), { cacheMaxAge: seconds * 1000 })
const expected = { issuer, audience, algorithms: ['ES256'], requiredClaims: ['exp'] }

for await (const token of createInterface({ input: process.stdin })) {
  try {
    const { payload } = await jwtVerify(token, keys, expected)
    console.log('ok', payload.sub)
  } catch (error) {
    console.log('error', error.code, error.message)
  }
}
