package harness

import (
	"runtime"
	"sync"
	"time"
)

// measured is what one run cost. The counts are nil unless they were asked for.
type measured struct {
	elapsed  time.Duration
	checksum uint64
	bytes    *uint64
	allocs   *uint64
}

// measure runs the operation on every thread and times it from the moment all of them are released
// until the last one is done.
func measure(run func(int) (uint64, error), iterations, threads int, count bool) (measured, error) {
	guarded := func() (sum uint64, err error) {
		defer recovered(&err)
		return run(iterations)
	}
	// A collection now means that garbage of earlier requests is not collected on this run's time.
	runtime.GC()
	if threads == 1 {
		return onOne(guarded, count)
	}
	return onMany(guarded, threads, count)
}

func onOne(run func() (uint64, error), count bool) (measured, error) {
	counted := startCount(count)
	start := time.Now()
	sum, err := run()
	elapsed := time.Since(start)
	bytes, allocs := counted()
	return measured{elapsed, sum, bytes, allocs}, err
}

func onMany(run func() (uint64, error), threads int, count bool) (measured, error) {
	sums, errs := make([]uint64, threads), make([]error, threads)
	release := make(chan struct{})
	var ready, done sync.WaitGroup
	for thread := range threads {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-release
			sums[thread], errs[thread] = run()
		})
	}
	ready.Wait()
	counted := startCount(count)
	start := time.Now()
	close(release)
	done.Wait()
	elapsed := time.Since(start)
	bytes, allocs := counted()

	total := measured{elapsed: elapsed, bytes: bytes, allocs: allocs}
	for thread := range threads {
		if errs[thread] != nil {
			return measured{}, errs[thread]
		}
		total.checksum += sums[thread]
	}
	return total, nil
}

// startCount reads the allocation counters, which are exact: reading them stops the world and
// flushes every thread's share. The result reads them again and gives the difference.
func startCount(count bool) func() (bytes, allocs *uint64) {
	if !count {
		return func() (*uint64, *uint64) { return nil, nil }
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	return func() (*uint64, *uint64) {
		runtime.ReadMemStats(&after)
		bytes, allocs := after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
		return &bytes, &allocs
	}
}
