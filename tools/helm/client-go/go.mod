// Stands in for client-go while a chart is rendered: helm's engine imports it for `lookup`, which asks a cluster.
// The real one, with the clients of every API, takes minutes to compile.
module k8s.io/client-go

go 1.26.0

require (
	k8s.io/api v0.37.0
	k8s.io/apimachinery v0.37.0
)
