// Verifies a token with the keys at an address, and prints `ok` or the code and the cause of the error.
import { RemoteKeySet, Verifier } from 'jeton'

const [address, token, proxy] = process.argv.slice(2)
const keys = new RemoteKeySet(proxy === undefined ? { address } : { address, proxy })
const verifier = new Verifier({ keys, issuer: 'https://id.example', audience: 'api' })
try {
  await verifier.verifyAsync(token)
  console.log('ok')
} catch (error) {
  console.log(error.code, error.cause?.message ?? '')
}
