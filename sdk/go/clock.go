package jeton

import (
	"runtime"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Clock is a clock for tests. Its time changes only in [Clock.Set]. Pass it with [WithClock].
type Clock struct{ handle *core.Handle }

// NewClock creates a clock with this time, truncated to seconds.
func NewClock(now time.Time) (*Clock, error) {
	handle, why := core.NewClock(now.Unix())
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
	return failed(core.SetClock(c.handle, now.Unix()))
}

// Close frees the clock. Issuers and verifiers created with it continue to use it.
func (c *Clock) Close() error {
	if c != nil {
		c.handle.Close()
	}
	return nil
}
