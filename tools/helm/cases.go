package main

import (
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
)

// problems renders the chart and checks the objects, and lets the server check its configuration.
func (t *test) problems(release string, given values, changes ...change) []string {
	rendered, err := t.chart.render(release, given, changes...)
	if err != nil {
		return []string{err.Error()}
	}
	problems := problemsOf(rendered)
	if len(problems) > 0 {
		return problems
	}
	return accepts(t.jeton, rendered)
}

// with returns the values of the page with some of them changed, as `--set-json` changes them.
func (t *test) with(changes ...string) values {
	given := copied(t.page.values)
	for _, change := range changes {
		if err := strvals.ParseJSON(change, given); err != nil {
			fail(err)
		}
	}
	return given
}

const trust = `
[[trust]]
name = "ci"
issuer = "https://id.example"
iss = "https://ci.example"
audience = "jeton"
claims = {sub = "repo:acme/*"}
subject = "{sub}"
tokens = [{profile = "access"}]
maximum_lifetime_seconds = 300
`

func (t *test) cases() {
	config, _ := t.page.values["config"].(string)
	all := t.with(
		`image.digest="sha256:`+digits(64)+`"`, `image.pullSecrets=["registry"]`, `replicas=5`,
		`keyEncryptionKey.alsoRead="former"`, `etcd.user="jeton"`, `etcd.passwordSecret="jeton-etcd-password"`,
		`etcd.endpoints=["[fd00::1]:2379","b.example:2380"]`, `etcd.root="/a/b"`, `listenAddress="[::]"`,
		`files.clients\.jwks="{}"`, `service.type="LoadBalancer"`, `service.trafficDistribution="PreferClose"`,
		`service.annotations.example/internal="true"`, `outsideIssuers.enabled=true`,
		`outsideIssuers.caConfigMap="authorities"`, `priorityClassName="important"`, `nodeSelector.disk="fast"`,
		`tolerations=[{"key":"a","operator":"Exists","effect":"NoSchedule"}]`,
		`networkPolicy.admin=[{"namespaceSelector":{"matchLabels":{"a":"b"}},"podSelector":{}}]`,
		`monitoring.serviceMonitor=true`, `monitoring.alerts=true`, `monitoring.clientSecret="prometheus"`,
		`monitoring.labels.team="a"`, `drainSeconds=0`, `stopDelaySeconds=30`, `log.format="text"`,
	)
	withTrust := t.with(`outsideIssuers.enabled=true`, `outsideIssuers.caConfigMap="authorities"`)
	withTrust["config"] = config + trust
	all["config"] = withTrust["config"]
	t.passes("the values of the page", t.problems("jeton", t.with()))
	t.passes("every value", t.problems("tokens", all))
	t.passes("outside issuers", t.problems("jeton", withTrust))
	t.passes("one server", t.problems("jeton", t.with(`replicas=1`, `spread.whenUnsatisfiable="ScheduleAnyway"`)))
	t.passes("two servers", t.problems("jeton", t.with(`replicas=2`)))
	t.passes("a scaler", t.problems("jeton", t.with(`autoscaling.enabled=true`, `autoscaling.maxReplicas=9`)))
	t.passes("an Ingress", t.problems("jeton", t.with(
		`ingress={"enabled":true,"className":"nginx","host":"tokens.example","tlsSecret":"tokens-tls"}`)))
	t.passes("without a NetworkPolicy", t.problems("jeton", t.with(`networkPolicy={"enabled":false}`)))
	t.configurationChanges()
}

// A change of the configuration changes the pods, and nothing else does.
func (t *test) configurationChanges() {
	checksum := func(given values) string {
		rendered, err := t.chart.render("jeton", given)
		if err != nil {
			fail(err)
		}
		return rendered.deployments[0].Spec.Template.Annotations["checksum/config"]
	}
	before := checksum(t.with())
	var problems []string
	for _, change := range []string{`drainSeconds=30`, `files.a="b"`, `keyEncryptionKey.alsoRead="b"`, `log.level="warn"`} {
		if checksum(t.with(change)) == before {
			problems = append(problems, change+" starts no new servers")
		}
	}
	if checksum(t.with()) != before || checksum(t.with(`replicas=5`)) != before {
		problems = append(problems, "the checksum changes with the same configuration")
	}
	t.passes("a change of the configuration", problems)
}

// Values that are wrong are errors.
func (t *test) wrongValues() {
	_, err := t.chart.render("jeton", values{})
	problems := []string{}
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, required := range []string{"/image/repository", "/config", "/etcd/endpoints", "/networkPolicy/etcd"} {
		t.finds("no values", required, problems)
	}
	for _, wrong := range []struct{ set, problem string }{
		{`replica=3`, "additional properties 'replica'"},
		{`etcd.endpoint=["a:2379"]`, "additional properties 'endpoint'"},
		{`replicas="three"`, "/replicas"},
		{`replicas=0`, "/replicas"},
		{`etcd.endpoints=["https://a.example:2379"]`, "/etcd/endpoints/0"},
		{`etcd.user="jeton"`, "/etcd/passwordSecret"},
		{`spread.whenUnsatisfiable="Always"`, "/spread/whenUnsatisfiable"},
		{`service.type="NodePort"`, "/service/type"},
		{`stopDelaySeconds=0`, "/stopDelaySeconds"},
		{`keyEncryptionKey.secret="A B"`, "/keyEncryptionKey/secret"},
		{`keyEncryptionKey.value="5555"`, "additional properties 'value'"},
		{`outsideIssuers.enabled=true`, "/outsideIssuers/caConfigMap"},
		{`monitoring.serviceMonitor=true`, "/monitoring/clientSecret"},
		{`monitoring.serviceMonitor=true,monitoring.clientSecret="a",networkPolicy.admin=[]`, "requires networkPolicy.admin"},
		{`autoscaling.enabled=true,autoscaling.maxReplicas=3`, "must be above replicas"},
		{`autoscaling.cpuPercent=100`, "/autoscaling/cpuPercent"},
		{`ingress={"enabled":true,"className":"nginx","host":"tokens.example"}`, "/ingress/tlsSecret"},
		{`networkPolicy.clients=[{}]`, "/networkPolicy/clients/0"},
		{`files.jeton\.toml="a"`, "jeton.toml"},
		{`disruptionBudget.maxUnavailable=3`, "must be below replicas"},
		{`disruptionBudget.maxUnavailable=2`, "leaves 1 of 3"},
		{`files.a="-----BEGIN PRIVATE KEY-----"`, "a has a private key"},
		{`files.a="` + digits(64) + `"`, "the ConfigMap has a secret in a"},
		{`resources.limits.memory="64Mi"`, "the memory limit"},
		{`config="freshnes_seconds = 15"`, "freshnes_seconds"},
		{`config="drain_seconds = 15"`, "drain_seconds"},
		{`config="a = "`, "toml"},
	} {
		t.finds(wrong.set, wrong.problem, t.problems("jeton", t.with(wrong.set)))
	}
}

// A chart that is wrong is found: fields and kinds that Kubernetes does not know, and each rule.
func (t *test) wrongCharts() {
	given := t.with()
	const deployment, policy = "deployment.yaml", "networkpolicy.yaml"
	more := t.with(`autoscaling.enabled=true`,
		`ingress={"enabled":true,"className":"nginx","host":"tokens.example","tlsSecret":"tokens-tls"}`)
	for _, wrong := range []struct{ file, old, new, problem string }{
		{"autoscaling.yaml", "minReplicas:", "minReplica:", "minReplica"},
		{"autoscaling.yaml", "kind: Deployment", "kind: StatefulSet", "the scaler is for"},
		{deployment, "{{- if not .Values.autoscaling.enabled }}", "{{- if true }}", "decide how many servers"},
		{"ingress.yaml", "port: {name: data}", "port: {name: admin}", "does not lead to the data port"},
		{"ingress.yaml", "- hosts: [{{ .Values.ingress.host | quote }}]", "- hosts: [a.example]", "no certificate for"},
	} {
		problems := t.problems("jeton", more, change{wrong.file, wrong.old, wrong.new})
		t.finds(wrong.file+": "+wrong.new, wrong.problem, problems)
	}
	for _, wrong := range []struct{ file, old, new, problem string }{
		{deployment, "readinessProbe:", "readinesProbe:", `unknown field "spec.template.spec.containers[0].readinesProbe"`},
		{deployment, "maxSkew: 1", "maxSkews: 1", "maxSkews"},
		{deployment, "replicas:", "replicas: 2\n  replicas:", "already set"},
		{deployment, "apps/v1", "apps/v1beta9", "no kind"},
		{"poddisruptionbudget.yaml", "maxUnavailable:", "maxUnavailables:", "maxUnavailables"},
		{policy, "policyTypes:", "policyType:", "policyType"},
		{"service.yaml", "kind: Service", "kind: Servce", "Servce"},
		{deployment, "path: /readyz, port: data", "path: /readyz, port: admin", "the readiness probe calls port admin"},
		{deployment, "path: /readyz", "path: /healthz", "the readiness probe gets /healthz"},
		{deployment, "path: /livez", "path: /readyz", "the startup probe gets /readyz"},
		{deployment, "port: data, scheme: HTTPS", "port: data", "without TLS"},
		{deployment, "failureThreshold: 150", "failureThreshold: 5", "no time to start"},
		{deployment, ".Values.drainSeconds 10", "10", "killed while it drains"},
		{deployment, "maxUnavailable: 0", "maxUnavailable: 1", "one server at a time"},
		{deployment, "checksum/config: ", "checksum/other: ", "changes no pod"},
		{deployment, "runAsNonRoot: true", "runAsNonRoot: false", "may be root"},
		{deployment, "fsGroup: 65532", "fsGroup: 1", "may not read its secrets"},
		{deployment, "RuntimeDefault", "Unconfined", "seccomp"},
		{deployment, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "is writable"},
		{deployment, "drop: [ALL]", "drop: [ALL], add: [NET_RAW]", "has capabilities"},
		{deployment, "defaultMode: 0440", "defaultMode: 0444", "everybody may read"},
		{deployment, "mountPath: /etc/jeton/etcd,", "mountPath: /etc/jeton/etc,", "/etc/jeton/etcd/ca.crt is not in a Secret"},
		{deployment, "mountPath: /etc/jeton/config,", "mountPath: /etc/jeton/conf,", "jeton serve --check"},
		{deployment, "automountServiceAccountToken: false", "automountServiceAccountToken: true", "a token for the API"},
		{deployment, "topologyKey: {{ .Values.spread.zoneKey }}", "topologyKey: zone", "not spread over zones"},
		{deployment, "nodeTaintsPolicy: Honor", "nodeTaintsPolicy: Ignore", "lost nodes count"},
		{"poddisruptionbudget.yaml", "AlwaysAllow", "IfHealthyBudget", "block a drain"},
		{"service.yaml", "  selector:\n    {{- include \"jeton.selector\" . | nindent 4 }}", "  selector: {a: b}", "does not select the pods"},
		{"service.yaml", "type: ClusterIP", "type: LoadBalancer", "the admin port is not inside"},
		{policy, "policyTypes: [Ingress, Egress]", "policyTypes: [Ingress]", "both ways"},
		{policy, "from:\n        {{- toYaml . | nindent 8 }}", "from: []", "everybody may call"},
		{policy, "to:\n        {{- toYaml .Values.networkPolicy.etcd | nindent 8 }}", "to: []", "may call everybody"},
		{policy, "{port: {{ . }}, protocol: TCP}", "{port: 22, protocol: TCP}", "may not call port 2379"},
		{"_names.tpl", "stop_delay_seconds = {{ .Values.stopDelaySeconds }}", "", "refuses calls at once"},
		{"_names.tpl", `listen = "{{ .Values.listenAddress }}:8420"`, `listen = "127.0.0.1:8420"`, "listen is"},
		{"_names.tpl", "key_encryption_key_file = \"/etc/jeton/key-encryption-key/", "key_encryption_key_file = \"/etc/jeton/kek/", "/etc/jeton/kek/"},
	} {
		problems := t.problems("jeton", given, change{wrong.file, wrong.old, wrong.new})
		t.finds(wrong.file+": "+wrong.new, wrong.problem, problems)
	}
}

func digits(count int) string { return strings.Repeat("7", count) }
