module github.com/jeton/jeton/sdk/go/internal/migration

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/jeton/jeton/sdk/go v0.1.0
	github.com/lestrrat-go/jwx/v3 v3.3.0
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.72.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/decred/dcrd/dcrec/secp256k1/v4 v4.4.1 // indirect
	github.com/felixge/httpsnoop v1.1.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl v0.1.0 // indirect
	github.com/lestrrat-go/blackmagic v1.0.4 // indirect
	github.com/lestrrat-go/dsig v1.4.0 // indirect
	github.com/lestrrat-go/dsig-secp256k1 v1.0.0 // indirect
	github.com/lestrrat-go/httpcc v1.0.1 // indirect
	github.com/lestrrat-go/httprc/v3 v3.0.6 // indirect
	github.com/lestrrat-go/option/v2 v2.0.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/valyala/fastjson v1.6.10 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace (
	github.com/jeton/jeton/sdk/go => ../../
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ../../lib/linux_amd64
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl => ../../lib/linux_amd64_musl
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 => ../../lib/linux_arm64
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl => ../../lib/linux_arm64_musl
)
