package main

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// A chart as it is on disk. Each rendering loads it again, because rendering changes values.
type source struct{ folder string }

// A change of the text of one template.
type change struct{ template, old, new string }

type values = map[string]any

func load(folder string) (*source, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	return &source{folder}, loaded.Validate()
}

// The objects of one rendering.
type objects struct {
	deployments []*appsv1.Deployment
	services    []*corev1.Service
	configMaps  []*corev1.ConfigMap
	accounts    []*corev1.ServiceAccount
	budgets     []*policyv1.PodDisruptionBudget
	policies    []*networkingv1.NetworkPolicy
	scalers     []*autoscalingv2.HorizontalPodAutoscaler
	ingresses   []*networkingv1.Ingress
	monitors    []*serviceMonitor
	alerts      []*prometheusRule
}

// Of the Prometheus operator, with the fields that the chart may use.
type serviceMonitor struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectName `json:"metadata"`
	Spec       struct {
		JobLabel string `json:"jobLabel"`
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct {
			Port      string `json:"port"`
			Scheme    string `json:"scheme"`
			Path      string `json:"path"`
			TLSConfig struct {
				ServerName string                   `json:"serverName"`
				CA         secretOrConfigMap        `json:"ca"`
				Cert       secretOrConfigMap        `json:"cert"`
				KeySecret  corev1.SecretKeySelector `json:"keySecret"`
			} `json:"tlsConfig"`
		} `json:"endpoints"`
	} `json:"spec"`
}

type secretOrConfigMap struct {
	Secret corev1.SecretKeySelector `json:"secret"`
}

type prometheusRule struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   objectName `json:"metadata"`
	Spec       struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

type objectName struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// render checks the values with the schema, renders the templates and decodes what they give.
func (s *source) render(release string, given values, changes ...change) (*objects, error) {
	loaded, err := loader.LoadDir(s.folder)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		if err := apply(loaded, change); err != nil {
			return nil, err
		}
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: "tokens", Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValues(loaded, copied(given), options, chartutil.DefaultCapabilities.Copy())
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, top)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	rendered := &objects{}
	for _, name := range names {
		if path.Ext(name) != ".yaml" {
			continue
		}
		for _, text := range strings.Split("\n"+files[name], "\n---") {
			if isEmpty(text) {
				continue
			}
			if err := rendered.decode([]byte(text)); err != nil {
				return nil, fmt.Errorf("%s: %w", path.Base(name), err)
			}
		}
	}
	return rendered, nil
}

func isEmpty(text string) bool {
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func apply(loaded *chart.Chart, change change) error {
	for _, file := range loaded.Templates {
		if path.Base(file.Name) != change.template {
			continue
		}
		text := string(file.Data)
		if strings.Count(text, change.old) == 0 {
			return fmt.Errorf("%s no longer has %q", change.template, change.old)
		}
		file.Data = []byte(strings.Replace(text, change.old, change.new, 1))
		return nil
	}
	return fmt.Errorf("there is no template %s", change.template)
}

// copied returns the values as a file would give them.
func copied(given values) values {
	text, err := yaml.Marshal(given)
	if err != nil {
		fail(err)
	}
	read, err := chartutil.ReadValues(text)
	if err != nil {
		fail(err)
	}
	return read
}

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

func (o *objects) decode(text []byte) error {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.APIVersion == "monitoring.coreos.com/v1" {
		return o.decodeMonitoring(kind.Kind, text)
	}
	object, _, err := strict.Decode(text, nil, nil)
	if err != nil {
		return err
	}
	switch object := object.(type) {
	case *appsv1.Deployment:
		o.deployments = append(o.deployments, object)
	case *corev1.Service:
		o.services = append(o.services, object)
	case *corev1.ConfigMap:
		o.configMaps = append(o.configMaps, object)
	case *corev1.ServiceAccount:
		o.accounts = append(o.accounts, object)
	case *policyv1.PodDisruptionBudget:
		o.budgets = append(o.budgets, object)
	case *networkingv1.NetworkPolicy:
		o.policies = append(o.policies, object)
	case *autoscalingv2.HorizontalPodAutoscaler:
		o.scalers = append(o.scalers, object)
	case *networkingv1.Ingress:
		o.ingresses = append(o.ingresses, object)
	default:
		return fmt.Errorf("the chart has a %s", kind.Kind)
	}
	return nil
}

func (o *objects) decodeMonitoring(kind string, text []byte) error {
	switch kind {
	case "ServiceMonitor":
		monitor := &serviceMonitor{}
		o.monitors = append(o.monitors, monitor)
		return yaml.UnmarshalStrict(text, monitor)
	case "PrometheusRule":
		rule := &prometheusRule{}
		o.alerts = append(o.alerts, rule)
		return yaml.UnmarshalStrict(text, rule)
	}
	return fmt.Errorf("the chart has a %s", kind)
}
