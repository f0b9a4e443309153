{{/* common.stopScript: what runs in a container before its pod is ended. The kubelet would signal only the first process: bash, which waits for
     the recipe's program and cannot pass a signal on. `beforeStop`, optional, is shell text for what has to happen before that. */}}
{{- define "common.stopScript" -}}
#!/bin/bash
{{- with .beforeStop }}
{{ . }}
{{- end }}
# bash first, so that it runs nothing more once its program has ended.
kill -TERM 1
for process in /proc/[0-9]*; do
  pid="${process#/proc/}"
  # What reads from a pipe (tee) ends with what feeds it, and has to stay until then.
  if [ "$pid" != 1 ] && [ "$pid" != $$ ] && [[ "$(readlink "$process/fd/0")" != pipe:* ]]; then
    kill -TERM "$pid"
  fi
done 2>/dev/null
exit 0
{{- end }}

{{/* common.scriptConfigMap: the ConfigMap that carries the scripts, text unchanged.
     Context: that of common.begin; scripts (map: file name to text; a `stop.sh` among them replaces ours); and, optional: files (likewise; other
     files of the chart), beforeStop (as for common.stopScript).
     Text stands in a literal block, for the sake of those who read manifests and their differences; text that YAML's block cannot
     carry unchanged (control characters, carriage returns, Unicode line breaks) stands in quotes instead. */}}
{{- define "common.scriptConfigMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .configMap }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
data:
{{- $shared := dict "stop.sh" (include "common.stopScript" .) }}
{{- if (.root.Values.git | default dict).repo_url }}
{{- $_ := set $shared "askpass.sh" (include "common.askpassScript" .) }}
{{- end }}
{{- range $file, $text := merge .scripts $shared (.files | default dict) }}
{{- if regexMatch "[^\\t\\n\\x20-\\x7E\\x{A0}-\\x{2027}\\x{202A}-\\x{D7FF}\\x{E000}-\\x{FEFE}\\x{FF00}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]" $text }}
  {{ $file }}: {{ printf "%s\n" $text | toJson }}
{{- else }}
  {{ $file }}: |
    {{- $text | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
