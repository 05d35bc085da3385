package jeton

import (
	"math"
	"sync"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// clock passes the time of a Go function to the native library. Issuers and verifiers set it before each call, so they
// have the time of [time.Now], which a bubble of testing/synctest replaces.
type clock struct {
	handle *core.Handle
	now    func() time.Time
	// Reading the time and setting it is one step. Otherwise, a slow goroutine could set the clock back for the others.
	lock sync.Mutex
}

// newClock creates a clock. Without a function, it has the time of [time.Now].
func newClock(now func() time.Time) (*clock, error) {
	if now == nil {
		now = time.Now
	}
	handle, why := core.NewClock(0)
	if why.Code != 0 {
		return nil, failed(why)
	}
	made := &clock{handle: handle, now: now}
	core.Own(made, handle)
	return made, nil
}

// set sets the time of the native library to the current time.
func (c *clock) set() core.Failure {
	c.lock.Lock()
	defer c.lock.Unlock()
	return core.SetClock(c.handle, microseconds(c.now()))
}

func (c *clock) close() {
	if c != nil {
		c.handle.Close()
	}
}

// microseconds returns the time since 1970. A time that int64 cannot represent becomes one that is out of range.
func microseconds(now time.Time) int64 {
	const lastYear = 253_402_300_799
	if now.Unix() > lastYear {
		return math.MaxInt64
	}
	return max(now.Unix(), -1)*1_000_000 + int64(now.Nanosecond()/1000)
}
