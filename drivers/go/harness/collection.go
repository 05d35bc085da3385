package harness

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	// pageSize is what the heap is handed out in.
	pageSize = 8 << 10
	// fillMax is how far away a collection may be to be waited for: with GOGC=off none comes.
	fillMax = 64 << 20
	// collectingMax is how long one that has begun is waited for.
	collectingMax = time.Second
)

// filled is what keeps the compiler from leaving collect's garbage out.
var filled []byte

// collect fills the heap until it is collected.
//
// runtime.GC would collect a heap with next to nothing in it, and the pages above that would be given
// back to the system in the background: the operation after it would pay for having them again, some
// hundreds of them, or for none of them if it came soon. A heap that is collected when it is full, as
// under work that goes on, keeps what it has; and what was given back while nobody asked for work is had
// again here, off the clock.
func collect() {
	room := bytesToGoal()
	if room > fillMax {
		runtime.GC()
		return
	}
	const pagesAtATime = 4
	before := collections()
	for bytes := uint64(0); collections() == before && bytes < room; bytes += pagesAtATime * pageSize {
		for range pagesAtATime {
			filled = make([]byte, pageSize)
		}
		// With one core, a collection goes on only when somebody yields.
		runtime.Gosched()
	}
	filled = nil
	// It has begun before the goal is reached; what is made while it goes on would count as living.
	for began := time.Now(); collections() == before && time.Since(began) < collectingMax; {
		// Who sleeps here would have to be woken again: see wake.
		runtime.Gosched()
	}
}

// bytesBetweenCollections is about how far one is from the next. It begins at 0.7 to 0.95 of the way from
// what lives to the goal, the sooner the longer the last ones took.
func bytesBetweenCollections() float64 {
	const begins = 0.75
	// What is made while it is collected counts as living; nothing is made beside this one.
	runtime.GC()
	return begins * float64(bytesToGoal())
}

func bytesToGoal() uint64 {
	live, goal := metric("/gc/heap/live:bytes"), metric("/gc/heap/goal:bytes")
	return goal - min(live, goal)
}

// collections counts those that came by themselves, at their ends.
func collections() uint64 { return metric("/gc/cycles/automatic:gc-cycles") }

func metric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
