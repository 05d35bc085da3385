{{- define "jeton.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains "jeton" $name) }}{{ $name = printf "%s-jeton" $name }}{{ end -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- /* The labels of the pods. A Deployment cannot change its selector, so they name no version. */ -}}
{{- define "jeton.selector" -}}
app.kubernetes.io/name: jeton
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "jeton.labels" -}}
{{ include "jeton.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "jeton.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* Keys of the first level, then the given configuration, then tables: so that each key is where it belongs. */ -}}
{{- define "jeton.config" -}}
store = "etcds://{{ join "," .Values.etcd.endpoints }}{{ .Values.etcd.root }}"
listen = "{{ .Values.listenAddress }}:8420"
admin_listen = "{{ .Values.listenAddress }}:8421"
key_encryption_key_file = "/etc/jeton/key-encryption-key/{{ .Values.keyEncryptionKey.item }}"
{{- with .Values.keyEncryptionKey.alsoRead }}
old_key_encryption_key_file = "/etc/jeton/key-encryption-key/{{ . }}"
{{- end }}
stop_delay_seconds = {{ .Values.stopDelaySeconds }}
drain_seconds = {{ .Values.drainSeconds }}

{{ .Values.config | trim }}

[log]
level = "{{ .Values.log.level }}"
format = "{{ .Values.log.format }}"

[tls]
certificate = "/etc/jeton/tls/tls.crt"
key = "/etc/jeton/tls/tls.key"
{{- if .Values.tls.clientCa.secret }}
client_ca = "/etc/jeton/client-ca/ca.crt"
{{- end }}

[etcd]
ca = "/etc/jeton/etcd/ca.crt"
certificate = "/etc/jeton/etcd/tls.crt"
key = "/etc/jeton/etcd/tls.key"
{{- with .Values.etcd.user }}
user = "{{ . }}"
password_file = "/etc/jeton/etcd-password/password"
{{- end }}
{{- end }}

{{- /* What the ConfigMap has. A change of it changes the pods, so that they start again one by one. */ -}}
{{- define "jeton.files" -}}
{{- $files := merge (dict "jeton.toml" (include "jeton.config" .)) .Values.files -}}
{{- range $name, $text := $files -}}
{{- if contains "PRIVATE KEY" $text }}{{ fail (printf "%s has a private key: a ConfigMap is not for secrets" $name) }}{{ end -}}
{{- end -}}
{{- toYaml $files -}}
{{- end }}
