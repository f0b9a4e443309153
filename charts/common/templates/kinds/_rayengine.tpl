{{/* common.rayengine: a Job that writes a Ray Serve application, one file of the chart, as the zip that recipes of rayserve name as their `working_dir`.
     Context: root, prefix, and module, the name of the file and of what recipes import. Ray fetches the zip at any time: it is written beside and renamed. */}}
{{- define "common.rayengine" -}}
{{- $file := printf "%s.py" .module }}
{{- $lines := list
      "mkdir -p \"$(dirname \"$ENGINE_PATH\")\""
      (printf "python3 -m zipfile -c \"$ENGINE_PATH.$HOSTNAME\" /etc/config/%s" $file)
      "mv -f \"$ENGINE_PATH.$HOSTNAME\" \"$ENGINE_PATH\"" }}
{{- include "common.job" (merge (dict
      "component" "model-preparation" "container" .prefix "work" "env" "script" (printf "%s.sh" .prefix) "done" "Engine"
      "env" (list (dict "name" "ENGINE_PATH" "value" "{{ .Values.engine_path }}"))
      "files" (dict $file (.root.Files.Get (printf "files/%s" $file) | trim))
      "commandText" (join "\n" $lines)) .) }}
{{- $path := .root.Values.engine_path }}
{{- $mounts := list }}
{{- range concat .root.Values.pvc .root.Values.volume_mounts }}
{{- $mounts = append $mounts (.mount_path | default .mountPath) }}
{{- end }}
{{- $mounted := false }}
{{- range $mounts }}
{{- $mounted = or $mounted (hasPrefix (printf "%s/" (trimSuffix "/" .)) $path) }}
{{- end }}
{{- if not $mounted }}
{{- fail (printf "engine_path is %s, which is below no mount (%s) and would be lost with the pod: write below a mount of pvc" $path (join ", " $mounts | default "there is none")) }}
{{- end }}
{{- end }}
