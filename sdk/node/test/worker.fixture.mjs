import { parentPort, workerData } from 'node:worker_threads'

import { Issuer, Key, Verifier } from 'jeton'

const key = Key.fromSecret(workerData.secret, { algorithm: 'HS256' })
const setting = { issuer: 'https://id.example', audience: 'api' }
const issuer = new Issuer({ key, ...setting, lifetime: '1h' })
const verifier = new Verifier({ keys: key, ...setting })
const rsa = new Issuer({ key: Key.generate('RS256'), ...setting, lifetime: 60 })
let done = 0
while (done < workerData.count) {
  if (verifier.verify(issuer.issue({ done })).claims.done === done) done++
  if (done % 100 === 0) {
    rsa.issueAsync({ done })
    if (done % 1000 === 0) await rsa.issueAsync({ done })
  }
}
parentPort.postMessage(done)
