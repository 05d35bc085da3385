//go:build cgo

package jeton

import _ "github.com/jeton/jeton/sdk/go/lib/linux_amd64"
