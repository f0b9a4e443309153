{{/* data-process.name: the Job and its script. Usage: include "data-process.name" . */}}
{{- define "data-process.name" -}}
{{ include "common.name" (dict "root" . "name" (printf "data-process-%s" .Release.Name)) }}
{{- end }}
