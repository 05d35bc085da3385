// When V8 collects the young generation, where what an operation leaves behind lies.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Operations that are looked at, at most: few enough to leave far less than is collected at once.
const probedMax = 64

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

// More than both halves of the young generation, in pieces of 16 KiB.
const pieces = 3 * 1024
const pieceOf = 2 * 1024
let piece

/**
 * Collects it now: what earlier requests left is not collected on the next run's time.
 *
 * In a process that has allocated next to nothing for five seconds, that gives most of it back to the
 * system, and the next two batches would pay for having it again. It is had again here, by filling it.
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
  // What has just been made is moved by the first, and gone with the second.
  gc({ type: 'minor' })
  gc({ type: 'minor' })
}

/**
 * How many operations of `run` there are from one collection to the next; null if that cannot be told.
 * No more than `iterations` are done to find out.
 */
export async function collectsAfter(run, iterations) {
  const probed = Math.min(iterations, probedMax)
  collect()
  const first = young()
  const before = young()
  await run(probed)
  const after = young()
  // To look leaves something too.
  const looking = before.space_used_size - first.space_used_size
  const each = (after.space_used_size - before.space_used_size - looking) / probed
  return each > 0 ? Math.floor(before.space_available_size / each) : null
}

function young() {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
}
