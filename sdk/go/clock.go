package jeton

import (
	"math"
	"time"
)

// microseconds returns the time since 1970, for a call of the native library. A time that int64 cannot represent
// becomes one that is out of range.
func microseconds(now time.Time) int64 {
	const lastYear = 253_402_300_799
	if now.Unix() > lastYear {
		return math.MaxInt64
	}
	return max(now.Unix(), -1)*1_000_000 + int64(now.Nanosecond()/1000)
}
