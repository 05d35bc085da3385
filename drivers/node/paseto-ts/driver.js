// The driver of paseto-ts: v4.local and v4.public. The library checks `exp`, `nbf` and `iat`. The
// driver checks by hand that the token has an expiry, its issuer and its audience.
//
// Keys are PASERK texts, or bytes with the same prefix; there is nothing to load. For v4.local, a
// prepared key is bytes. For v4.public it is also text: version 2.0.7 compares only nine bytes of
// the prefix with all ten of `k4.public.` and `k4.secret.`, and so accepts no bytes there.
import { decrypt, encrypt, generateKeys, sign, verify } from 'paseto-ts/v4'

import {
  Invalid,
  expiryRequired,
  installedVersion,
  keyText,
  keyed,
  offer,
  serve
} from '../harness/harness.js'

const signing = ['sign', 'verify', 'round-trip', 'generate-key']
// Signs the claims unchanged: the library would add absent ones.
const asGiven = { addExp: false, addIat: false }

await serve({
  library: 'paseto-ts',
  knowsDefaults: true,
  byDriver: ['v4.public', 'v4.local'].flatMap(f => ['iss', 'aud', 'exp'].map(c => `${f}:${c}`)),
  version: installedVersion('paseto-ts', import.meta.url),
  offers: [
    offer({ format: 'v4.public', operations: signing }),
    offer({ format: 'v4.local', operations: [...signing, 'encrypt', 'decrypt'] })
  ].flat(),
  sign: making,
  encrypt: making,
  verify: opening,
  decrypt: opening,
  generateKey
})

function making(prepare) {
  const values = prepare.claims.values
  const key = keyFor(prepare, 'private')
  const make = prepare.format === 'v4.local' ? encrypt : sign
  return index => make(key(), values[index], asGiven)
}

function opening(prepare) {
  const { issuer, audience } = prepare.policy
  const mustExpire = expiryRequired(prepare)
  const key = keyFor(prepare, 'public')
  const open = prepare.format === 'v4.local' ? decrypt : verify
  return token => {
    const { payload } = open(key(), token)
    if (mustExpire && payload.exp === undefined) throw new Error('the claim exp is missing')
    if (issuer && payload.iss !== issuer) throw new Error('the claim iss is not the issuer')
    if (audience && payload.aud !== audience) throw new Error('the claim aud is not the audience')
    return payload
  }
}

function generateKey({ format }) {
  const purpose = format.slice('v4.'.length)
  return () => generateKeys(purpose)
}

function keyFor(prepare, half) {
  const { form, text } = keyText(prepare, half)
  if (form !== 'paserk') throw new Invalid('the key is not a PASERK')
  const hasBytes = prepare.format === 'v4.local' && prepare.key_handling === 'prepared'
  return keyed(prepare, () => (hasBytes ? bytes(text) : text))
}

/** Returns the bytes with their prefix, as the library's `format: 'buffer'` does. */
function bytes(paserk) {
  const at = paserk.lastIndexOf('.') + 1
  const raw = Buffer.from(paserk.slice(at), 'base64url')
  return new Uint8Array(Buffer.concat([Buffer.from(paserk.slice(0, at)), raw]))
}
