package jeton

import (
	"math"
	"runtime"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Clock is a clock for tests. Its time changes only in [Clock.Set]. Pass it with [WithClock].
type Clock struct{ handle *core.Handle }

// NewClock creates a clock with this time, truncated to microseconds.
func NewClock(now time.Time) (*Clock, error) {
	handle, why := core.NewClock(microseconds(now))
	if why.Code != 0 {
		return nil, failed(why)
	}
	clock := &Clock{handle: handle}
	core.Own(clock, handle)
	return clock, nil
}

// Set sets the time for all issuers and verifiers that use the clock.
func (c *Clock) Set(now time.Time) error {
	if c == nil {
		return unusable("clock")
	}
	defer runtime.KeepAlive(c)
	return failed(core.SetClock(c.handle, microseconds(now)))
}

// microseconds returns the time since 1970. A time that int64 cannot represent becomes one that is out of range.
func microseconds(now time.Time) int64 {
	const lastYear = 253_402_300_799
	if now.Unix() > lastYear {
		return math.MaxInt64
	}
	return max(now.Unix(), -1)*1_000_000 + int64(now.Nanosecond()/1000)
}

// Close frees the clock. Issuers and verifiers created with it continue to use it.
func (c *Clock) Close() error {
	if c != nil {
		c.handle.Close()
	}
	return nil
}
