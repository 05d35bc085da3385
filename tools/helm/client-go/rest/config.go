// Package rest has the name of a cluster's configuration. There is no cluster.
package rest

type Config struct{}
