{{/* common.scriptConfigMap: the ConfigMap that carries the scripts, text unchanged.
     Context: root; component; name; scripts (map: file name to text).
     Text stands in a literal block, for the sake of those who read manifests and their differences; text that YAML's block cannot
     carry unchanged (control characters, carriage returns, Unicode line breaks) stands in quotes instead. */}}
{{- define "common.scriptConfigMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
data:
{{- range $file, $text := .scripts }}
{{- if regexMatch "[^\\t\\n\\x20-\\x7E\\x{A0}-\\x{2027}\\x{202A}-\\x{D7FF}\\x{E000}-\\x{FEFE}\\x{FF00}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]" $text }}
  {{ $file }}: {{ printf "%s\n" $text | toJson }}
{{- else }}
  {{ $file }}: |
    {{- $text | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
