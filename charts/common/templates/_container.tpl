{{/* common.image: the reference to pull. A digest replaces whatever tag the name carries.
     Usage: include "common.image" (dict "name" .Values.image "digest" .Values.image_digest) */}}
{{- define "common.image" -}}
{{- if .digest -}}
{{ regexReplaceAll "(@sha256:[0-9a-f]+|:[A-Za-z0-9_][A-Za-z0-9_.-]*)$" .name "" }}@{{ .digest }}
{{- else -}}
{{ .name }}
{{- end }}
{{- end }}

{{/* common.env: the entries of a container's `env`, in the recipe's order, because later ones may refer to earlier ones as $(NAME).
     `value` may hold templates. Usage: include "common.env" (dict "root" $ "work" .Values.train "resources" .Values.resources) */}}
{{- define "common.env" -}}
{{- $root := .root }}
{{- $names := list }}
{{- range .work.env }}
{{- $names = append $names .name }}
- name: {{ .name }}
  {{- if .valueFrom }}
  valueFrom:
    {{- toYaml .valueFrom | nindent 4 }}
  {{- else }}
  value: {{ tpl (.value | default "") $root | quote }}
  {{- end }}
{{- end }}
{{- range include "common.requested" . | fromYaml }}
{{- range $name, $value := .env }}
{{- if not (has $name $names) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
