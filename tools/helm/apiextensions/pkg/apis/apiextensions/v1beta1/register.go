// Package v1beta1 registers no kinds.
package v1beta1

import "k8s.io/apimachinery/pkg/runtime"

func AddToScheme(*runtime.Scheme) error { return nil }
