// The keys of a `prepare` request, as the text that a library reads.
import { createPrivateKey, createPublicKey } from 'node:crypto'

import { Invalid } from './errors.js'

/**
 * Returns the text of one half of the key, `private` or `public`, with its form: `jwk`, `pem` or
 * `paserk`. A symmetric key serves as both halves.
 */
export function keyText(prepare, half) {
  const { keys, key_text } = prepare
  const text = key_text ? textIn(key_text, half) : textOf(keys, half)
  if (typeof text !== 'string') throw new Invalid(`the ${half} key is missing`)
  if (key_text) return { form: key_text.form, text }
  return { form: keys.paserk ? 'paserk' : 'jwk', text }
}

/** Returns every text that `load-key` must load: both halves of a pair, or one symmetric key. */
export function keyTexts(prepare) {
  const { form, private: ours, public: theirs } = prepare.key_text
  const texts = []
  if (typeof ours === 'string') texts.push({ form, text: ours, half: 'private' })
  if (typeof theirs === 'string') texts.push({ form, text: theirs, half: 'public' })
  if (texts.length === 0) throw new Invalid('the key text is empty')
  return texts
}

/** Returns the PEM of one half of a pair, for a library that reads no JWK. Created outside the timed loop. */
export function keyPem(prepare, half) {
  const { form, text } = keyText(prepare, half)
  if (form === 'pem') return text
  const jwk = parsedJwk(text)
  const create = half === 'private' ? createPrivateKey : createPublicKey
  let key
  try {
    key = create({ key: jwk, format: 'jwk' })
  } catch {
    throw new Invalid(`the ${half} key is not a JWK`)
  }
  return key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' })
}

/** Returns the bytes of a symmetric JWK. */
export function secretBytes(text) {
  const jwk = parsedJwk(text)
  if (jwk?.kty !== 'oct' || typeof jwk.k !== 'string') throw new Invalid('the secret is no oct JWK')
  return Buffer.from(jwk.k, 'base64url')
}

/**
 * Returns the function that an operation calls for the key that `load` makes. It calls `load` once
 * for `prepared`, and in every call for `parsed-per-call`.
 */
export function keyed(prepare, load) {
  const made = load()
  return prepare.key_handling === 'parsed-per-call' ? load : () => made
}

function textIn(text, half) {
  // A symmetric key comes as `private` alone.
  return text[half] ?? (half === 'public' && text.form !== 'pem' ? text.private : null)
}

function textOf({ private: ours, public: theirs, paserk }, half) {
  if (paserk) return paserk[half === 'private' ? 'secret' : 'public'] ?? paserk.local
  const jwk = half === 'private' ? ours : (theirs ?? (ours?.kty === 'oct' ? ours : null))
  return jwk ? JSON.stringify(jwk) : null
}

function parsedJwk(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Invalid('the key is not a JWK')
  }
}
