// One operation on several worker threads, timed from the moment all of them are released until the
// last one has finished.
import { Worker, parentPort } from 'node:worker_threads'

import { collect } from './collection.js'

// The index in the shared gate: the number of released runs.
const released = 0

/** Workers with one prepared operation. */
export class Workers {
  #workers
  #gate

  static async start(count, request) {
    const self = new Workers()
    self.#gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    self.#workers = Array.from({ length: count }, () => {
      // The driver's own file: it calls `serve`, which in a worker calls `work` below.
      return new Worker(process.argv[1], { workerData: { request, gate: self.#gate } })
    })
    try {
      await self.#all('ready')
    } catch (error) {
      await self.close()
      throw error
    }
    return self
  }

  get count() {
    return this.#workers.length
  }

  async run(iterations) {
    const waiting = this.#all('waiting')
    for (const worker of this.#workers) worker.postMessage(iterations)
    await waiting

    const done = this.#all('done')
    const start = process.hrtime.bigint()
    Atomics.add(this.#gate, released, 1)
    Atomics.notify(this.#gate, released)
    const results = await done

    // Every thread reads the same monotonic clock, so that message passing is not timed.
    const end = results.reduce((latest, { end }) => (end > latest ? end : latest), start)
    return { elapsed: end - start, checksum: results.reduce((sum, { checksum }) => sum + checksum, 0) }
  }

  async close() {
    await Promise.all(this.#workers.map(worker => worker.terminate()))
  }

  /** Waits for this message from each worker. Fails if a worker failed or ended. */
  async #all(word) {
    const answers = await Promise.all(this.#workers.map(worker => nextMessage(worker)))
    for (const answer of answers) {
      if (answer.word !== word) {
        throw Object.assign(new Error(answer.reason), { kind: answer.kind })
      }
    }
    return answers
  }
}

/** Runs in the worker: prepares the operation, then waits for runs. */
export async function work({ request, gate }, prepare) {
  const say = (word, more) => parentPort.postMessage({ word, ...more })
  const sayError = error => say('error', { kind: error?.kind, reason: String(error?.message ?? error) })
  let operation
  try {
    operation = await prepare(request)
    say('ready')
  } catch (error) {
    sayError(error)
    return
  }
  parentPort.on('message', async iterations => {
    try {
      const before = Atomics.load(gate, released)
      collect()
      say('waiting')
      Atomics.wait(gate, released, before)
      const checksum = await operation.run(iterations)
      say('done', { end: process.hrtime.bigint(), checksum })
    } catch (error) {
      sayError(error)
    }
  })
}

function nextMessage(worker) {
  return new Promise((resolve, reject) => {
    const settle = handle => value => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
      handle(value)
    }
    const onMessage = settle(resolve)
    const onError = settle(reject)
    const onExit = settle(() => reject(new Error('a worker thread ended')))
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.on('exit', onExit)
  })
}
