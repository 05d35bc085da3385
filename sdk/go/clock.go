package jeton

import (
	"runtime"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Clock is a clock that stands still until it is set. For tests: pass it with [WithClock].
type Clock struct{ handle *core.Handle }

// NewClock creates a clock that stands at this time. Fractions of a second are dropped.
func NewClock(now time.Time) (*Clock, error) {
	handle, why := core.NewClock(now.Unix())
	if why.Code != 0 {
		return nil, failed(why)
	}
	clock := &Clock{handle: handle}
	core.Own(clock, handle)
	return clock, nil
}

// Set sets the clock, for all issuers and verifiers that have it.
func (c *Clock) Set(now time.Time) error {
	if c == nil {
		return errClosed()
	}
	defer runtime.KeepAlive(c)
	return failed(core.SetClock(c.handle, now.Unix()))
}

// Close frees the clock. Issuers and verifiers that were made with it keep it.
func (c *Clock) Close() error {
	if c != nil {
		c.handle.Close()
	}
	return nil
}
