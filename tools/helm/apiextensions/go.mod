// Stands in for apiextensions-apiserver: the chart defines no kinds of its own, and the real one is large.
module k8s.io/apiextensions-apiserver

go 1.26.0

require k8s.io/apimachinery v0.37.0
