// Behaves like the Node server of a public comparison of gRPC servers. It keeps the server's bug,
// so that the published figures can be reproduced: an unknown algorithm ends the process. On
// several cores it is a cluster, as in the report: one process per core behind one port.
//
// Only the lab should run it. The lab reports this bug beside its figures.

import cluster from 'node:cluster'
import { parseArgs } from 'node:util'

import { listen } from './service.js'

const { values: options } = parseArgs({
  options: {
    listen: { type: 'string', default: '127.0.0.1:0' },
    hs256: { type: 'string' },
    es256: { type: 'string' },
    workers: { type: 'string', default: '1' },
  },
})
const workers = Number(options.workers)

if (workers > 1 && cluster.isPrimary) {
  let listening = 0
  for (let i = 0; i < workers; i++) {
    const worker = cluster.fork()
    worker.on('message', (address) => {
      listening += 1
      if (listening === workers) console.log(`listening on ${address}`)
    })
  }
  cluster.on('exit', () => {
    console.error('a worker ended')
    process.exit(1)
  })
} else {
  try {
    const address = await listen(options)
    if (cluster.isWorker) process.send(address)
    else console.log(`listening on ${address}`)
  } catch (error) {
    console.error(`server: ${error.message}`)
    process.exit(1)
  }
}
