// A driver without a library, for the tests of the harness: its tokens are the claims in JSON. The
// format `jwe` does the same asynchronously.
import { Unsupported, keyText, keyTexts, keyed, offer, serve } from './harness.js'

const signing = ['sign', 'verify', 'verify-signature', 'round-trip', 'generate-key', 'load-key']

await serve({
  library: 'fake',
  version: '1.0.0',
  offers: [
    offer({ format: 'jwt', algs: ['HS256'], operations: signing, key_text: ['jwk'] }),
    offer({
      format: 'jwe',
      algs: ['dir'],
      encs: ['A128GCM'],
      operations: ['encrypt', 'decrypt', 'round-trip']
    })
  ].flat(),
  sign,
  verify: () => opened,
  verifySignature: () => token => void opened(token),
  generateKey: () => () => ({}),
  loadKey: prepare => () => keyTexts(prepare).map(({ text }) => JSON.parse(text)),
  encrypt: async prepare => {
    const make = sign(prepare)
    return async index => make(index)
  },
  decrypt: async () => async token => opened(token)
})

function sign(prepare) {
  let loads = 0
  const key = keyed(prepare, () => {
    const { text } = keyText(prepare, 'private')
    if (text === '{}') throw new Unsupported('an empty key')
    return ++loads
  })
  return index => {
    // A prepared key stays the first one. A parsed key is different in every call.
    const { count, ...claims } = prepare.claims.values[index]
    return JSON.stringify(count ? { ...claims, loads: key() } : claims)
  }
}

function opened(token) {
  if (token === 'bad') throw new Error('bad\ntoken')
  return JSON.parse(token)
}
