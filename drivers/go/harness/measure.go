package harness

import (
	"runtime"
	"sync"
	"time"
)

// measured is the result of one run. The counts are nil unless requested.
type measured struct {
	elapsed  time.Duration
	checksum uint64
	counts
}

type counts struct {
	bytes  *uint64
	allocs *uint64
	// collectsAfter is how many operations each thread does between two collections.
	collectsAfter *uint64
}

// wake runs the lead immediately before the clock is read, without a pause between them.
//
// In a process that was idle, the runtime's watchdog (sysmon) runs every 20 microseconds fifty
// times, then half as often each time. On the one core that a driver has, each time costs two
// thread switches: about 1 ms of the first 10 ms in every run. A process that is always busy never
// pays this.
func wake(run func(int) (uint64, error), lead int) (err error) {
	if lead == 0 {
		return nil
	}
	defer recovered(&err)
	_, err = run(lead)
	return err
}

// measure runs the operation on every thread. It times from the moment all threads are released
// until the last one has finished.
func measure(run func(int) (uint64, error), lead, iterations, threads int, count bool) (measured, error) {
	if err := wake(run, lead); err != nil {
		return measured{}, err
	}
	// Collects garbage of earlier requests outside the timed run.
	collect()
	if threads == 1 {
		return onOne(run, iterations, count)
	}
	return onMany(run, iterations, threads, count)
}

func onOne(run func(int) (uint64, error), iterations int, count bool) (done measured, err error) {
	defer recovered(&err)
	counted := newCounter(count, iterations)
	counted.start()
	start := time.Now()
	sum, err := run(iterations)
	elapsed := time.Since(start)
	return measured{elapsed, sum, counted.stop()}, err
}

func onMany(run func(int) (uint64, error), iterations, threads int, count bool) (measured, error) {
	sums, errs := make([]uint64, threads), make([]error, threads)
	release := make(chan struct{})
	counted := newCounter(count, iterations)
	var ready, done sync.WaitGroup
	for thread := range threads {
		ready.Add(1)
		done.Go(func() {
			defer recovered(&errs[thread])
			ready.Done()
			<-release
			sums[thread], errs[thread] = run(iterations)
		})
	}
	ready.Wait()
	counted.start()
	start := time.Now()
	close(release)
	done.Wait()
	elapsed := time.Since(start)
	total := measured{elapsed: elapsed, counts: counted.stop()}
	for thread := range threads {
		if errs[thread] != nil {
			return measured{}, errs[thread]
		}
		total.checksum += sums[thread]
	}
	return total, nil
}

// counter reads the allocation counters. They are exact: reading them stops the world and flushes
// every thread's share. It is created before it starts, because creating it allocates.
type counter struct {
	iterations int
	// apart is roughly how many bytes are allocated between two collections.
	apart         float64
	before, after runtime.MemStats
}

func newCounter(wanted bool, iterations int) *counter {
	if !wanted {
		return nil
	}
	return &counter{iterations: iterations, apart: bytesBetweenCollections()}
}

func (c *counter) start() {
	if c != nil {
		runtime.ReadMemStats(&c.before)
	}
}

func (c *counter) stop() counts {
	if c == nil {
		return counts{}
	}
	runtime.ReadMemStats(&c.after)
	bytes, allocs := c.after.TotalAlloc-c.before.TotalAlloc, c.after.Mallocs-c.before.Mallocs
	counted := counts{bytes: &bytes, allocs: &allocs}
	if bytes > 0 {
		operations := uint64(c.apart / float64(bytes) * float64(c.iterations))
		counted.collectsAfter = &operations
	}
	return counted
}
