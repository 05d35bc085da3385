// Verifies a token with the keys of a server that never responds, prints the code of the error, and ends.
import { RemoteKeySet } from 'jeton'
import { TestIssuer } from 'jeton/testing'

const [way, address] = process.argv.slice(2)
const clients = { fetch, hang: () => new Promise(() => {}) }
const idp = new TestIssuer()
const verifier = idp.verifier({ keys: new RemoteKeySet({ address, ...(clients[way] && { fetch: clients[way] }) }) })
try {
  await (way === 'sync' ? verifier.verify(idp.issue()) : verifier.verifyAsync(idp.issue()))
} catch (error) {
  console.log(error.code)
}
