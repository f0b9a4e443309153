{{/* common.image: the reference to pull. A digest replaces whatever tag the name carries; without a name there is no reference.
     Usage: include "common.image" (dict "name" .Values.image "digest" .Values.image_digest) */}}
{{- define "common.image" -}}
{{- if and .name .digest -}}
{{ regexReplaceAll "(@sha256:[0-9a-f]+|:[A-Za-z0-9_][A-Za-z0-9_.-]*)$" .name "" }}@{{ .digest }}
{{- else -}}
{{ .name }}
{{- end }}
{{- end }}

{{/* common.env: the entries of a container's `env`, in the recipe's order, because later ones may refer to earlier ones as $(NAME).
     `value` may hold templates. One that is a secret of the values (_secrets.tpl) and nothing else is taken from its Secret; for those that
     are part of a longer text a variable of their own comes first. `env`, optional, are entries of the chart, which the recipe's replace by their names.
     Usage: include "common.env" (dict "root" $ "program" .Values.train "resources" .Values.resources) */}}
{{- define "common.env" -}}
{{- $root := .root }}
{{- $secrets := include "common.secretRefs" .root | fromYaml }}
{{- $parts := dict }}
{{- $entries := list }}
{{- $names := list }}
{{- range .program.env }}
{{- $names = append $names .name }}
{{- end }}
{{- $given := list }}
{{- range .env }}
{{- if not (has .name $names) }}
{{- $given = append $given . }}
{{- end }}
{{- end }}
{{- range concat $given .program.env }}
{{- $entry := dict "name" .name "valueFrom" .valueFrom }}
{{- if not .valueFrom }}
{{- $text := include "common.evaluate" (dict "root" $root "text" (.value | default "") "where" (printf "the variable %s" .name)) }}
{{- $_ := set $entry "value" $text }}
{{- range $key, $secret := $secrets }}
{{- $variable := include "common.secretVariable" $key }}
{{- if eq $text (printf "$(%s)" $variable) }}
{{- $_ := set $entry "valueFrom" $secret }}
{{- else if contains (printf "$(%s)" $variable) $text }}
{{- $_ := set $parts $variable $secret }}
{{- end }}
{{- end }}
{{- end }}
{{- $entries = append $entries $entry }}
{{- end }}
{{- $run := .root.Values.run }}
{{- range $name, $value := dict "RUN_NAME" $run.name "RUN_STEP" $run.step }}
{{- if and $value (not (has $name $names)) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $secret := $parts }}
- name: {{ $name }}
  valueFrom:
    {{- toYaml $secret | nindent 4 }}
{{- end }}
{{- range $entries }}
- name: {{ .name }}
  {{- if .valueFrom }}
  valueFrom:
    {{- toYaml .valueFrom | nindent 4 }}
  {{- else }}
  value: {{ .value | quote }}
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
