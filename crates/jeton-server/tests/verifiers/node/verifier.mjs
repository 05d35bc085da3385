// Verifies tokens like a service in Node, with jose's createRemoteJWKSet.
//
// Arguments: key set URL, issuer, audience, cache time of the key set in seconds.
// Reads one token per line. Prints "ok SUBJECT" or "error REASON" for each.
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
