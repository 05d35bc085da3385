// The process that collection.test.js examines, configured like a driver. Prints how many pages the
// first work after idle seconds requested from the system.
import { setTimeout as sleep } from 'node:timers/promises'

import { collect } from './collection.js'

export let kept
const work = () => {
  // 24 MB: more than the young generation holds.
  for (let i = 0; i < 30_000; i++) kept = new Array(100).fill(i)
}
for (let i = 0; i < 4; i++) work()
await sleep(6_000)
collect()
const before = process.resourceUsage().minorPageFault
work()
console.log(process.resourceUsage().minorPageFault - before)
