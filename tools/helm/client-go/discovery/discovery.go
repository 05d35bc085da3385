// Package discovery refuses to ask a cluster what it offers.
package discovery

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

type DiscoveryClient struct{}

var errNoCluster = errors.New("a chart is rendered here without a cluster")

func NewDiscoveryClientForConfig(*rest.Config) (*DiscoveryClient, error) { return nil, errNoCluster }

func (*DiscoveryClient) ServerResourcesForGroupVersion(string) (*metav1.APIResourceList, error) {
	return nil, errNoCluster
}
