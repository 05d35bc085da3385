// The process that collection.test.js examines, configured like a driver. Prints the reported
// number of operations between two collections, and the collections during parts of that number.
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { collect, collectsAfter } from './collection.js'

let kept
const run = async iterations => {
  for (let i = 0; i < iterations; i++) kept = new Array(100).fill(i)
}
let collections = 0
const observer = new PerformanceObserver(list => (collections += list.getEntries().length))
observer.observe({ entryTypes: ['gc'] })

await run(100_000)
const between = await collectsAfter(run, 1_000)
const seen = {}
for (const part of [0.5, 1.5, 2.5]) {
  collect()
  await sleep(20)
  collections = 0
  await run(Math.floor(part * between))
  await sleep(20)
  seen[part] = collections
}
console.log(JSON.stringify({ between, seen, last: kept[0] }))
