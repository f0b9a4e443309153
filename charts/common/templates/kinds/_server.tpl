{{/* common.server: a Deployment, its Service, and, where asked, its autoscaler and disruption budget. The server is the container's foreground process:
     when it ends, the container ends. Context: that of common.begin. */}}
{{- define "common.server" -}}
{{- include "common.serverBegin" . -}}
{{ include "common.deployment" . }}
{{- end }}

{{/* common.deployment: the objects of common.server. Context: that of common.serverBegin. */}}
{{- define "common.deployment" -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script .text)) .) }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  {{- if not .scales }}
  replicas: {{ .program.autoscaling.minReplicas | int }}
  {{- end }}
  strategy:
    {{- include "common.strategy" . | nindent 4 }}
  {{- /* A model may take all the time that the start-up probe allows; the default of ten minutes would call that a failure. */}}
  progressDeadlineSeconds: {{ add 600 (mul (.program.startup_probe.period_secs | int) (.program.startup_probe.failure_threshold | int)) }}
  selector:
    matchLabels:
      {{- include "common.selectorLabels" . | nindent 6 }}
  template:
    {{- include "common.podTemplate" (merge (dict "extra" (include "common.serverPorts" .)) .) | nindent 4 }}
{{- include "common.serverObjects" (merge (dict "apiVersion" "apps/v1" "kind" "Deployment" "selector" (include "common.selectorLabels" .)) .) }}
{{- end }}

{{/* common.strategy: how an upgrade replaces the pods of a Deployment. */}}
{{- define "common.strategy" -}}
type: {{ .program.strategy }}
{{- if eq .program.strategy "RollingUpdate" }}
{{- /* A pod goes when another has taken its place; one more at a time, as accelerators are scarce. */}}
rollingUpdate:
  maxUnavailable: 0
  maxSurge: 1
{{- end }}
{{- end }}

{{/* common.serverBegin: what all kinds of servers begin with. */}}
{{- define "common.serverBegin" -}}
{{- include "common.begin" . }}
{{- include "common.serverContext" . }}
{{- end }}

{{/* common.serverContext: what servers have beyond common.begin, whose context it takes. Adds: container, command, gracePeriod, annotations, drain (seconds),
     beforeStop, text (of the script), ports (numbers), scales (an autoscaler decides the number of replicas), budget (of disruptions). */}}
{{- define "common.serverContext" -}}
{{- $server := .program }}
{{- $_ := include "common.name" (dict "root" .root "name" .name) }}
{{- /* Some recipes name their ports as a map. */}}
{{- if kindIs "map" $server.ports }}
{{- $ports := list }}
{{- range $name, $value := $server.ports }}
{{- $ports = append $ports (dict "name" $name "value" $value) }}
{{- end }}
{{- $_ := set $server "ports" $ports }}
{{- end }}
{{- if not $server.ports }}
{{- fail "server.ports is empty: name at least one port, as {name: http, value: 8080}" }}
{{- end }}
{{- $names := list }}
{{- $ports := list }}
{{- range $server.ports }}
{{- $names = append $names .name }}
{{- $ports = append $ports .value }}
{{- end }}
{{- range $key := list "startup_probe" "readiness_probe" "liveness_probe" }}
{{- $port := get (get $server $key) "port" | toString }}
{{- if not (or (empty $port) (regexMatch "^[0-9]+$" $port) (has $port $names)) }}
{{- fail (printf "server.%s.port is %s, but server.ports names %s: set the one or the other" $key $port (join ", " $names)) }}
{{- end }}
{{- end }}
{{- $fewest := $server.autoscaling.minReplicas | int }}
{{- $most := $server.autoscaling.maxReplicas | int }}
{{- if lt $most $fewest }}
{{- fail (printf "server.autoscaling.maxReplicas (%d) is less than minReplicas (%d)" $most $fewest) }}
{{- end }}
{{- $_ := set . "ports" $ports }}
{{- $_ := set . "scales" (gt $most $fewest) }}
{{- /* With none of its own, one of several at a time; a single one does not keep its node from being drained. */}}
{{- $_ := set . "budget" ($server.disruption_budget | default (ternary (dict "max_unavailable" 1) dict (gt $fewest 1))) }}
{{- $_ := set . "container" $server.name }}
{{- $_ := set . "command" (list "/bin/bash" (printf "/etc/config/%s" .script)) }}
{{- $_ := set . "drain" ($server.drain_secs | int) }}
{{- $_ := set . "beforeStop" (ternary (include "common.drain" .) "" (gt .drain 0)) }}
{{- $_ := set . "gracePeriod" (add 30 .drain) }}
{{- $_ := set . "text" (include "common.recipeScript" (merge (dict "after" (ternary (include "common.keepAlive" .) "" $server.keep_alive)) .)) }}
{{- $_ := set . "annotations" (dict "checksum/script" (sha256sum .text)) }}
{{- end }}

{{- define "common.drain" -}}
# Requests still arrive until every node knows that this pod is no longer behind the Service.
sleep {{ .drain }}
{{- end }}

{{/* common.keepAlive: shell text after a command that leaves the server in the background. One that failed left none. */}}
{{- define "common.keepAlive" -}}
_step_status=$?
if [ "$_step_status" != 0 ]; then
  exit "$_step_status"
fi
sleep infinity &
wait
{{- end }}

{{/* common.serverPorts: ports and probes of the container. */}}
{{- define "common.serverPorts" -}}
ports:
  {{- range .program.ports }}
  - name: {{ .name }}
    containerPort: {{ .value | int }}
  {{- end }}
{{- $ports := .program.ports }}
{{- range $name, $probe := dict "startupProbe" .program.startup_probe "readinessProbe" .program.readiness_probe "livenessProbe" .program.liveness_probe }}
{{ $name }}:
  {{- include "common.probe" (dict "probe" $probe "ports" $ports) | nindent 2 }}
{{- end }}
{{- end }}

{{/* common.probe: one probe: HTTP where the recipe names a path, a TCP connection where the path is empty; the first port unless another is named. */}}
{{- define "common.probe" -}}
{{- $port := .probe.port | default (first .ports).name | toString }}
{{- $port = ternary ($port | atoi) ($port | quote) (regexMatch "^[0-9]+$" $port) -}}
{{- if .probe.path -}}
httpGet:
  path: {{ .probe.path | quote }}
  port: {{ $port }}
{{- else -}}
tcpSocket:
  port: {{ $port }}
{{- end }}
periodSeconds: {{ .probe.period_secs | int }}
failureThreshold: {{ .probe.failure_threshold | int }}
{{- end }}

{{/* common.serverObjects: the Service of a server, and, where asked, its autoscaler and disruption budget.
     Context: that of common.serverBegin; apiVersion and kind of the workload; selector (labels of the pods behind the Service, as YAML text). A chart that
     makes its program itself may give it `service` (annotations and fields of the Service), and a port `service`, the Service's number of it. */}}
{{- define "common.serverObjects" }}
{{- $service := .program.service | default dict }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  {{- with $service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- toYaml (merge dict (omit $service "annotations") (dict "type" "ClusterIP")) | nindent 2 }}
  selector:
    {{- .selector | nindent 4 }}
  ports:
    {{- range .program.ports }}
    - name: {{ .name }}
      port: {{ .service | default .value | int }}
      targetPort: {{ .name }}
      protocol: TCP
    {{- end }}
{{- if .scales }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: {{ .apiVersion }}
    kind: {{ .kind }}
    name: {{ .name }}
  minReplicas: {{ .program.autoscaling.minReplicas | int }}
  maxReplicas: {{ .program.autoscaling.maxReplicas | int }}
  metrics:
    {{- include "common.metrics" .program.autoscaling.metrics | trim | nindent 4 }}
{{- end }}
{{- include "common.disruptionBudget" . }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.disruptionBudget: how many pods may be taken away at a time. Context: that of common.serverBegin. */}}
{{- define "common.disruptionBudget" }}
{{- with .budget }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $.name }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
spec:
  {{- if hasKey . "min_available" }}
  minAvailable: {{ .min_available }}
  {{- end }}
  {{- if hasKey . "max_unavailable" }}
  maxUnavailable: {{ .max_unavailable }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "common.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end }}

{{/* common.metrics: the autoscaler's metrics. Recipes of the reference system ask for the utilisation of cpu as a metric of type Pods,
     which no metrics server answers; such a metric becomes the Resource metric it means. */}}
{{- define "common.metrics" -}}
{{- range . }}
{{- if and .pods (eq (dig "pods" "target" "type" "" .) "Utilization") }}
- type: Resource
  resource:
    name: {{ .pods.metric.name }}
    target:
      type: Utilization
      averageUtilization: {{ .pods.target.averageUtilization | default .pods.target.averageValue | int }}
{{- else }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end }}
