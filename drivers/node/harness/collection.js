// When V8 collects the young generation, which holds the garbage of the operations.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// The maximum number of probed operations: few enough to stay below one collection.
const probedMax = 64

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

// More than both halves of the young generation, in pieces of 16 KiB.
const pieces = 3 * 1024
const pieceOf = 2 * 1024
let piece

/**
 * Collects garbage now, so that garbage of earlier requests is not collected during the next run.
 *
 * A process that has allocated almost nothing for five seconds returns most of the young generation
 * to the system. The next two batches would pay for acquiring it again. Filling it here acquires it
 * before the run.
 */
export function collect() {
  const before = young().space_size
  collectTwice()
  if (young().space_size >= before) return
  for (let i = 0; i < pieces; i++) piece = new Array(pieceOf).fill(i)
  piece = undefined
  collectTwice()
}

function collectTwice() {
  // The first collection moves what was just allocated; the second frees it.
  gc({ type: 'minor' })
  gc({ type: 'minor' })
}

/**
 * Returns how many operations of `run` there are between two collections, or null if unknown. Runs
 * at most `iterations` operations to find out.
 */
export async function collectsAfter(run, iterations) {
  const probed = Math.min(iterations, probedMax)
  collect()
  const first = young()
  const before = young()
  await run(probed)
  const after = young()
  // The measurement itself allocates too.
  const looking = before.space_used_size - first.space_used_size
  const each = (after.space_used_size - before.space_used_size - looking) / probed
  return each > 0 ? Math.floor(before.space_available_size / each) : null
}

function young() {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
}
