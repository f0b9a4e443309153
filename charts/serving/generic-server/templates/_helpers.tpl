{{/* generic-server.name: the Deployment, its Service, autoscaler and budget. Usage: include "generic-server.name" . */}}
{{- define "generic-server.name" -}}
{{ include "common.name" (dict "root" . "name" .Release.Name) }}
{{- end }}

{{/* generic-server.scales: not empty when an autoscaler decides the number of replicas. Usage: if include "generic-server.scales" . */}}
{{- define "generic-server.scales" -}}
{{- if gt (.Values.server.autoscaling.maxReplicas | int) (.Values.server.autoscaling.minReplicas | int) }}yes{{ end }}
{{- end }}

{{/* generic-server.validate: rules between values. Usage: include "generic-server.validate" . */}}
{{- define "generic-server.validate" -}}
{{- include "common.validate" (dict "root" . "work" .Values.server "workKey" "server" "image" .Values.image.name "imageKey" "image.name" "resources" (dict "resources" .Values.resources)) }}
{{- if not .Values.server.ports }}
{{- fail "server.ports is empty: name at least one port, as {name: http, value: 8080}" }}
{{- end }}
{{- $scaling := .Values.server.autoscaling }}
{{- if lt ($scaling.maxReplicas | int) ($scaling.minReplicas | int) }}
{{- fail (printf "server.autoscaling.maxReplicas (%v) is less than minReplicas (%v)" $scaling.maxReplicas $scaling.minReplicas) }}
{{- end }}
{{- end }}

{{/* generic-server.probe: one probe: HTTP where the recipe names a path, a TCP connection where the path is empty; the first port unless another is named.
     Usage: include "generic-server.probe" (dict "root" $ "probe" .Values.server.liveness_probe) | nindent 2 */}}
{{- define "generic-server.probe" -}}
{{- $port := .probe.port | default (first .root.Values.server.ports).name | toString }}
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

{{/* generic-server.container: ports and probes of the container. Usage: include "generic-server.container" . */}}
{{- define "generic-server.container" -}}
ports:
  {{- range .Values.server.ports }}
  - name: {{ .name }}
    containerPort: {{ .value | int }}
  {{- end }}
startupProbe:
  {{- include "generic-server.probe" (dict "root" . "probe" .Values.server.startup_probe) | nindent 2 }}
readinessProbe:
  {{- include "generic-server.probe" (dict "root" . "probe" .Values.server.readiness_probe) | nindent 2 }}
livenessProbe:
  {{- include "generic-server.probe" (dict "root" . "probe" .Values.server.liveness_probe) | nindent 2 }}
{{- end }}

{{/* generic-server.metrics: the autoscaler's metrics. Recipes of the reference system ask for the utilisation of cpu as a metric of type Pods,
     which no metrics server answers; such a metric becomes the Resource metric it means. Usage: include "generic-server.metrics" . */}}
{{- define "generic-server.metrics" -}}
{{- range .Values.server.autoscaling.metrics }}
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

{{/* generic-server.script: the launcher script. The server is its foreground process: when it ends, the container ends.
     server.keep_alive is for commands that leave the server in the background and return. Usage: include "generic-server.script" . */}}
{{- define "generic-server.script" -}}
{{- $after := ternary "sleep infinity &\nwait" "" .Values.server.keep_alive }}
{{- include "common.recipeScript" (dict "root" . "work" .Values.server "after" $after) }}
{{- end }}
