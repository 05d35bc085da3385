//go:build cgo && linux && musl

package jeton

import _ "github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl"
