package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The ports of a server, and what its image allows.
const (
	dataPort  = 8420
	adminPort = 8421
	user      = 65532
)

// What a rule looks at: the objects of one release, and the parts that most rules need.
type release struct {
	*objects
	deployment *appsv1.Deployment
	pod        *corev1.PodSpec
	container  *corev1.Container
	config     map[string]any
	problems   []string
}

func (r *release) say(format string, arguments ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, arguments...))
}

func (r *release) must(holds bool, format string, arguments ...any) {
	if !holds {
		r.say(format, arguments...)
	}
}

// problemsOf checks the objects against every rule.
func problemsOf(o *objects) []string {
	if len(o.deployments) != 1 || len(o.deployments[0].Spec.Template.Spec.Containers) != 1 || len(o.configMaps) != 1 {
		return []string{"there must be one Deployment with one container, and one ConfigMap"}
	}
	r := &release{objects: o, deployment: o.deployments[0]}
	r.pod = &r.deployment.Spec.Template.Spec
	r.container = &r.pod.Containers[0]
	if _, err := toml.Decode(o.configMaps[0].Data["jeton.toml"], &r.config); err != nil {
		return []string{err.Error()}
	}
	for _, rule := range []func(*release){
		selectors, ports, probes, shutdown, rollout, budget, spread, secrets, security, account, network, resources,
		monitoring, scaling, ingress,
	} {
		rule(r)
	}
	return r.problems
}

func selectors(r *release) {
	labels := r.deployment.Spec.Template.Labels
	selects := func(what string, selector map[string]string) {
		r.must(len(selector) > 0, "%s selects every pod", what)
		for key, value := range selector {
			r.must(labels[key] == value, "%s does not select the pods: %s", what, key)
		}
	}
	selects("the Deployment", r.deployment.Spec.Selector.MatchLabels)
	for _, service := range r.services {
		selects("the Service "+service.Name, service.Spec.Selector)
	}
	for _, budget := range r.budgets {
		selects("the budget", budget.Spec.Selector.MatchLabels)
	}
	for _, policy := range r.policies {
		selects("the NetworkPolicy", policy.Spec.PodSelector.MatchLabels)
	}
	for _, constraint := range r.pod.TopologySpreadConstraints {
		selects("the spread over "+constraint.TopologyKey, constraint.LabelSelector.MatchLabels)
	}
	// The labels of a release never change.
	for _, key := range []string{"app.kubernetes.io/version", "helm.sh/chart"} {
		_, found := r.deployment.Spec.Selector.MatchLabels[key]
		r.must(!found, "an upgrade would change the selector: %s", key)
	}
}

// numberOf finds a port of the container by its name.
func (r *release) numberOf(port intstr.IntOrString) int32 {
	for _, one := range r.container.Ports {
		if one.Name == port.StrVal {
			return one.ContainerPort
		}
	}
	return port.IntVal
}

func ports(r *release) {
	listens := func(key string, port int) {
		address, _ := r.config[key].(string)
		r.must(strings.HasSuffix(address, fmt.Sprint(":", port)), "%s is %q", key, address)
		r.must(!strings.Contains(address, "127.0.0.1"), "%s is %q", key, address)
	}
	listens("listen", dataPort)
	listens("admin_listen", adminPort)
	reached := map[int32]corev1.ServiceType{}
	for _, service := range r.services {
		for _, port := range service.Spec.Ports {
			number := r.numberOf(port.TargetPort)
			r.must(number == port.Port, "the Service %s leads from %d to %d", service.Name, port.Port, number)
			reached[number] = service.Spec.Type
		}
	}
	_, hasData := reached[dataPort]
	r.must(hasData, "no Service leads to the data port")
	r.must(reached[adminPort] == corev1.ServiceTypeClusterIP, "the admin port is not inside the cluster alone")
}

func probes(r *release) {
	check := func(name string, probe *corev1.Probe, path string) {
		if probe == nil || probe.HTTPGet == nil {
			r.say("there is no %s probe", name)
			return
		}
		get := probe.HTTPGet
		r.must(get.Path == path, "the %s probe gets %s", name, get.Path)
		r.must(r.numberOf(get.Port) == dataPort, "the %s probe calls port %s", name, get.Port.String())
		r.must(get.Scheme == corev1.URISchemeHTTPS, "the %s probe calls without TLS", name)
		r.must(probe.TimeoutSeconds > 0 && probe.PeriodSeconds > 0, "the %s probe has no times", name)
	}
	check("startup", r.container.StartupProbe, "/livez")
	check("liveness", r.container.LivenessProbe, "/livez")
	check("readiness", r.container.ReadinessProbe, "/readyz")
	if start := r.container.StartupProbe; start != nil {
		r.must(start.FailureThreshold*start.PeriodSeconds >= 120, "a server with a large store has no time to start")
	}
}

func shutdown(r *release) {
	drain, _ := r.config["drain_seconds"].(int64)
	delay, _ := r.config["stop_delay_seconds"].(int64)
	r.must(delay > 0, "a server that is told to stop refuses calls at once")
	grace := r.pod.TerminationGracePeriodSeconds
	r.must(grace != nil && *grace >= delay+drain+5, "the server is killed while it drains")
}

func rollout(r *release) {
	strategy := r.deployment.Spec.Strategy.RollingUpdate
	r.must(strategy != nil && strategy.MaxUnavailable.IntValue() == 0 && strategy.MaxSurge.IntValue() == 1,
		"a rollout does not replace one server at a time")
	checksum := r.deployment.Spec.Template.Annotations["checksum/config"]
	r.must(len(checksum) == 64, "a change of the configuration changes no pod")
}

// replicas are the servers that there are at least. A scaler decides alone, so the Deployment names no number then.
func (r *release) replicas() int {
	own := r.deployment.Spec.Replicas
	r.must(len(r.scalers) < 2 && (own == nil) == (len(r.scalers) == 1), "the Deployment and a scaler decide how many servers there are")
	switch {
	case len(r.scalers) == 1 && r.scalers[0].Spec.MinReplicas != nil:
		return int(*r.scalers[0].Spec.MinReplicas)
	case own != nil:
		return int(*own)
	}
	return 1
}

func scaling(r *release) {
	for _, scaler := range r.scalers {
		target := scaler.Spec.ScaleTargetRef
		r.must(target.Kind == "Deployment" && target.Name == r.deployment.Name, "the scaler is for %s", target.Name)
		r.must(int(scaler.Spec.MaxReplicas) > r.replicas(), "the scaler adds no server")
		for _, metric := range scaler.Spec.Metrics {
			r.must(metric.Resource != nil && metric.Resource.Name == corev1.ResourceCPU, "the scaler looks at another resource")
		}
	}
}

// An Ingress leads to the data port, with a certificate.
func ingress(r *release) {
	for _, ingress := range r.ingresses {
		r.must(ingress.Spec.IngressClassName != nil, "no controller has the Ingress")
		for _, rule := range ingress.Spec.Rules {
			r.must(len(ingress.Spec.TLS) == 1 && ingress.Spec.TLS[0].Hosts[0] == rule.Host, "no certificate for %s", rule.Host)
			for _, path := range rule.HTTP.Paths {
				found := false
				for _, service := range r.services {
					for _, port := range service.Spec.Ports {
						backend := path.Backend.Service
						found = found || service.Name == backend.Name && port.Name == backend.Port.Name && port.Port == dataPort
					}
				}
				r.must(found, "the Ingress does not lead to the data port")
			}
		}
	}
}

func budget(r *release) {
	replicas := r.replicas()
	if replicas == 1 {
		r.must(len(r.budgets) == 0, "a budget would block the drain of the only server's node")
		return
	}
	if len(r.budgets) != 1 || r.budgets[0].Spec.MaxUnavailable == nil {
		r.say("there is no disruption budget")
		return
	}
	spec := r.budgets[0].Spec
	left := replicas - spec.MaxUnavailable.IntValue()
	r.must(spec.MaxUnavailable.IntValue() > 0, "the budget blocks every drain")
	r.must(left > 0 && (replicas == 2 || 2*left > replicas), "the budget leaves %d of %d servers", left, replicas)
	r.must(spec.UnhealthyPodEvictionPolicy != nil && *spec.UnhealthyPodEvictionPolicy == "AlwaysAllow",
		"servers that are not ready block a drain")
}

func spread(r *release) {
	zone := false
	for _, constraint := range r.pod.TopologySpreadConstraints {
		zone = zone || constraint.TopologyKey == "topology.kubernetes.io/zone"
		r.must(constraint.MaxSkew == 1, "the skew over %s is %d", constraint.TopologyKey, constraint.MaxSkew)
		honored := constraint.NodeTaintsPolicy != nil && *constraint.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		r.must(honored, "lost nodes count in the spread over %s", constraint.TopologyKey)
		r.must(len(constraint.MatchLabelKeys) == 1, "old pods count in the spread over %s", constraint.TopologyKey)
	}
	r.must(zone, "servers are not spread over zones")
}

// 64 hexadecimal digits are a key-encryption key, unless they are the hash of a client's secret.
var keyLike = regexp.MustCompile(`(^|[^:0-9A-Fa-f])[0-9A-Fa-f]{64}([^0-9A-Fa-f]|$)`)

func secrets(r *release) {
	for _, configMap := range r.configMaps {
		for name, text := range configMap.Data {
			isSecret := keyLike.MatchString(text) || strings.Contains(text, "PRIVATE KEY")
			r.must(!isSecret, "the ConfigMap has a secret in %s", name)
		}
	}
	r.must(len(r.container.Env) == 0 && len(r.container.EnvFrom) == 0, "the container has environment variables")
	for _, volume := range r.pod.Volumes {
		if volume.Secret != nil {
			mode := volume.Secret.DefaultMode
			r.must(mode != nil && *mode&0o337 == 0, "everybody may read or write the files of %s", volume.Name)
		}
	}
	// Each file of the configuration is in a Secret, or one of the ConfigMap's public files.
	for _, file := range filesIn(r.config) {
		if strings.HasPrefix(file, "/etc/") {
			r.must(r.source(file) == "secret", "%s is not in a Secret of the pod", file)
		}
	}
}

// filesIn lists every text in the configuration that is a path.
func filesIn(part any) []string {
	var files []string
	switch part := part.(type) {
	case string:
		if strings.HasPrefix(part, "/") {
			files = append(files, part)
		}
	case map[string]any:
		for _, one := range part {
			files = append(files, filesIn(one)...)
		}
	case []any:
		for _, one := range part {
			files = append(files, filesIn(one)...)
		}
	}
	return files
}

// source tells what a file in the pod comes from.
func (r *release) source(file string) string {
	for _, mount := range r.container.VolumeMounts {
		name, inside := strings.CutPrefix(file, mount.MountPath+"/")
		if !inside {
			continue
		}
		for _, volume := range r.pod.Volumes {
			if volume.Name != mount.Name || volume.Secret == nil {
				continue
			}
			for _, item := range volume.Secret.Items {
				if item.Path == name {
					return "secret"
				}
			}
		}
	}
	return ""
}

func security(r *release) {
	pod, container := r.pod.SecurityContext, r.container.SecurityContext
	if pod == nil || container == nil || container.Capabilities == nil || pod.SeccompProfile == nil {
		r.say("there is no security context")
		return
	}
	is := func(value *bool, wanted bool) bool { return value != nil && *value == wanted }
	id := func(value *int64) bool { return value != nil && *value == user }
	r.must(is(pod.RunAsNonRoot, true) && id(pod.RunAsUser) && id(pod.RunAsGroup), "the server may be root")
	r.must(id(pod.FSGroup), "the server may not read its secrets")
	r.must(pod.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault, "there is no seccomp profile")
	r.must(is(container.ReadOnlyRootFilesystem, true), "the root file system is writable")
	r.must(is(container.AllowPrivilegeEscalation, false), "the server may get more rights")
	drop := container.Capabilities.Drop
	r.must(len(drop) == 1 && drop[0] == "ALL" && len(container.Capabilities.Add) == 0, "the server has capabilities")
	for _, mount := range r.container.VolumeMounts {
		r.must(mount.ReadOnly, "the server may write to %s", mount.MountPath)
	}
	r.must(!r.pod.HostNetwork && !r.pod.HostPID && !r.pod.HostIPC, "the server shares the node's namespaces")
}

func account(r *release) {
	r.must(len(r.accounts) == 1 && r.accounts[0].Name == r.pod.ServiceAccountName, "there is no account of its own")
	off := func(value *bool) bool { return value != nil && !*value }
	isOff := off(r.pod.AutomountServiceAccountToken) && len(r.accounts) == 1 &&
		off(r.accounts[0].AutomountServiceAccountToken)
	r.must(isOff, "the pod gets a token for the API")
	r.must(off(r.pod.EnableServiceLinks), "the pod gets variables of services")
}

func network(r *release) {
	for _, policy := range r.policies {
		r.must(len(policy.Spec.PolicyTypes) == 2, "the NetworkPolicy is not for both ways")
		for _, rule := range policy.Spec.Ingress {
			r.must(len(rule.From) > 0 && len(rule.Ports) > 0, "everybody may call, or every port")
			for _, port := range rule.Ports {
				number := r.numberOf(*port.Port)
				r.must(number == dataPort || number == adminPort, "callers may call port %s", port.Port.String())
			}
		}
		allowed, used := r.egressPorts(), map[int32]bool{}
		for _, rule := range policy.Spec.Egress {
			r.must(len(rule.To) > 0 && len(rule.Ports) > 0, "the server may call everybody, or every port")
			for _, port := range rule.Ports {
				r.must(allowed[port.Port.IntVal], "the server may call port %s", port.Port.String())
				used[port.Port.IntVal] = true
			}
		}
		for port := range allowed {
			r.must(used[port], "the server may not call port %d", port)
		}
	}
}

// egressPorts are the ports of DNS, of the etcd, and of outside issuers if there are some.
func (r *release) egressPorts() map[int32]bool {
	allowed := map[int32]bool{53: true}
	store, _ := r.config["store"].(string)
	hosts, _, _ := strings.Cut(strings.TrimPrefix(store, "etcds://"), "/")
	for _, host := range strings.Split(hosts, ",") {
		var port int32
		_, _ = fmt.Sscan(host[strings.LastIndex(host, ":")+1:], &port)
		allowed[port] = true
	}
	if _, outside := r.config["trust"]; outside {
		allowed[443] = true
	}
	return allowed
}

func resources(r *release) {
	given := r.container.Resources
	r.must(!given.Requests.Cpu().IsZero() && !given.Requests.Memory().IsZero(), "the pod requests no resources")
	r.must(given.Limits.Memory().Value() >= 512<<20, "the memory limit is below what answers may take")
	r.must(given.Limits.Cpu().IsZero(), "a CPU limit delays calls")
	r.must(strings.ContainsAny(r.container.Image, ":@"), "the image has no version")
}

func monitoring(r *release) {
	for _, monitor := range r.monitors {
		r.must(len(monitor.Spec.Endpoints) == 1, "the ServiceMonitor has no endpoint")
		r.must(monitor.Spec.JobLabel == "app.kubernetes.io/name", "the alerts name the job jeton")
		found := 0
		for _, service := range r.services {
			matches := service.Labels[monitor.Spec.JobLabel] == "jeton"
			for key, value := range monitor.Spec.Selector.MatchLabels {
				matches = matches && service.Labels[key] == value
			}
			if matches && service.Spec.Ports[0].Name == monitor.Spec.Endpoints[0].Port {
				found++
			}
		}
		r.must(found == 1, "the ServiceMonitor selects %d services", found)
	}
	for _, alerts := range r.alerts {
		count := 0
		for _, group := range alerts.Spec.Groups {
			count += len(group.Rules)
		}
		r.must(count > 15, "there are %d alerts", count)
	}
}

func contain(problems []string, text string) bool {
	for _, problem := range problems {
		if strings.Contains(problem, text) {
			return true
		}
	}
	return false
}
