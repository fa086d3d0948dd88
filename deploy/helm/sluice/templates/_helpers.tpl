{{- define "sluice.name" -}}
{{- if contains "sluice" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-sluice" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* Labels that tell a component's pods from all others: of a dict with `root` and `component`. */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "sluice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Seconds from SIGTERM to the end that a pod may take beyond its preStop. */}}
{{- define "sluice.drainSeconds" -}}
{{ add (div (int (.Values.settings.DRAIN_TIMEOUT_MS | default 10000)) 1000) 10 }}
{{- end }}

{{- /*
Settings as environment: of a dict with `root` and `without`, the beginnings of the names that this process has no use for, so that a
secret is where it is needed only. Numbers as JSON has them: text of YAML would write large ones as 1e+06.
*/}}
{{- define "sluice.env" -}}
{{- $without := include "sluice.without" . -}}
- { name: METRICS_PORT, value: '9464' }
{{- range $name, $value := .root.Values.settings }}
{{- if not (regexMatch $without $name) }}
- name: {{ $name }}
  value: {{ if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ $value | toJson | quote }}{{ end }}
{{- end }}
{{- end }}
{{- range $name, $_ := .root.Values.secretSettings }}
{{- if not (regexMatch $without $name) }}
- { name: {{ $name }}_FILE, value: /etc/sluice/secrets/{{ $name }} }
{{- end }}
{{- end }}
{{- end }}

{{- /* The names that a process has no use for, as a regular expression: of the dict that `sluice.env` takes. */}}
{{- define "sluice.without" -}}
^({{ join "|" (.without | default (list "CANARY_")) }})
{{- end }}

{{- define "sluice.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "sluice.podSecurity" -}}
automountServiceAccountToken: false
# Otherwise a Service called `metrics` or `otlp-grpc` would be a setting: METRICS_PORT, OTLP_GRPC_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- /* Secrets as files, which are read again when they change: of the dict that `sluice.env` takes. */}}
{{- define "sluice.volumes" -}}
{{- $without := include "sluice.without" . -}}
{{- $sources := list -}}
{{- range $name, $from := .root.Values.secretSettings }}
{{- if not (regexMatch $without $name) }}
{{- $sources = append $sources (dict "secret" (dict "name" $from.name "items" (list (dict "key" $from.key "path" $name)))) }}
{{- end }}
{{- end -}}
- { name: tmp, emptyDir: {} }
- { name: secrets, projected: { sources: {{ toJson $sources }} } }
{{- with .root.Values.certificates.secret }}
- name: certificates
  secret: { secretName: {{ . | quote }} }
{{- end }}
{{- end }}

{{- define "sluice.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: data, mountPath: /data }
- { name: secrets, mountPath: /etc/sluice/secrets, readOnly: true }
{{- if .Values.certificates.secret }}
- { name: certificates, mountPath: /etc/sluice/certificates, readOnly: true }
{{- end }}
{{- end }}

{{- /*
Probes on the port of metrics, which no ingress reaches. Liveness never asks for readiness: an outage of Elasticsearch would restart every
process that waits for it. The registry is read before a process listens, so a start may take minutes.
*/}}
{{- define "sluice.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: metrics }
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health/live, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health/ready, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{- /* Over zones and nodes where there are some; a zone that is gone must not stop a rollout. */}}
{{- define "sluice.spread" -}}
topologySpreadConstraints:
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "sluice.selector" $ | nindent 8 }}
{{- end }}
{{- end }}

{{- /*
The pod of a role, or of the canary: of a dict with `root`, `component`, `role`, `resources`, and if given `without` (see sluice.env),
`env` (a list), `ports` (a list) and `preStopSeconds`.
*/}}
{{- define "sluice.pod" -}}
metadata:
  labels: {{- include "sluice.labels" . | nindent 4 }}
  {{- with .root.Values.podAnnotations }}
  annotations: {{ toJson . }}
  {{- end }}
spec:
  {{- include "sluice.podSecurity" .root | nindent 2 }}
  terminationGracePeriodSeconds: {{ add (.preStopSeconds | default 0) (include "sluice.drainSeconds" .root) }}
  {{- if not (has .role (list "all" "canary")) }}
  {{- include "sluice.spread" . | nindent 2 }}
  {{- end }}
  containers:
    - name: sluice
      image: {{ include "sluice.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ if eq .role "canary" }}[canary]{{ else }}[start, --role, {{ .role }}]{{ end }}
      env:
        {{- include "sluice.env" . | nindent 8 }}
        {{- range .env }}
        - {{ toJson . }}
        {{- end }}
      ports:
        {{- if ne .role "canary" }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        - { name: metrics, containerPort: 9464 }
        {{- range .ports }}
        - {{ toJson . }}
        {{- end }}
      {{- if .preStopSeconds }}
      # Endpoints are taken away later than the signal comes; meanwhile requests are still taken.
      lifecycle: { preStop: { sleep: { seconds: {{ .preStopSeconds }} } } }
      {{- end }}
      {{- include "sluice.probes" . | nindent 6 }}
      resources: {{ toJson .resources }}
      {{- include "sluice.containerSecurity" . | nindent 6 }}
      volumeMounts: {{- include "sluice.mounts" .root | nindent 8 }}
  volumes:
    {{- include "sluice.volumes" . | nindent 4 }}
    {{- if ne .role "all" }}
    - { name: data, emptyDir: {} }
    {{- end }}
{{- end }}
