package harness

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	// pageSize is the size of the blocks that fill the heap.
	pageSize = 8 << 10
	// fillMax is the most that collect allocates to trigger a collection: with GOGC=off none comes.
	fillMax = 64 << 20
	// collectingMax is the longest wait for a collection that has begun.
	collectingMax = time.Second
)

// filled keeps the compiler from removing the garbage that collect makes.
var filled []byte

// collect fills the heap until the runtime collects garbage.
//
// runtime.GC would collect an almost empty heap. The runtime would then return the pages above it
// to the system in the background. The next operation would pay for acquiring them again: several
// hundred, or none if it came soon. A heap that is collected when full, as under continuous work,
// keeps its pages. Pages returned while the process was idle are acquired again here, outside the
// timed loop.
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
		// With one core, a collection proceeds only when other goroutines yield.
		runtime.Gosched()
	}
	filled = nil
	// The collection begins before the goal is reached. Allocations during it would count as live.
	for began := time.Now(); collections() == before && time.Since(began) < collectingMax; {
		// A sleeping goroutine would have to be woken again: see wake.
		runtime.Gosched()
	}
}

// bytesBetweenCollections returns roughly how many bytes are allocated between two collections. A
// collection begins at 0.7 to 0.95 of the way from the live heap to the goal, earlier if the last
// ones took longer.
func bytesBetweenCollections() float64 {
	const begins = 0.75
	// Allocations during a collection count as live; nothing else allocates here.
	runtime.GC()
	return begins * float64(bytesToGoal())
}

func bytesToGoal() uint64 {
	live, goal := metric("/gc/heap/live:bytes"), metric("/gc/heap/goal:bytes")
	return goal - min(live, goal)
}

// collections returns the number of completed automatic collections.
func collections() uint64 { return metric("/gc/cycles/automatic:gc-cycles") }

func metric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
