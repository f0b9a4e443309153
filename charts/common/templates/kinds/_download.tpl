{{/* common.download: a Job that downloads `downloads` to the claim `pvc`, by files/download.py of the library chart.
     Context: root; name: that of the container, which begins the Job's name. */}}
{{- define "common.download" -}}
{{- $directory := "{{ .Values.pvc.mount_path }}/{{ .Values.pvc.data_path }}" }}
{{- $env := list (dict "name" "DATA_DIR" "value" $directory) (dict "name" "DOWNLOADS" "value" "{{ .Values.downloads | toJson }}") }}
{{- include "common.job" (dict "root" .root "prefix" .name "component" "data-preparation" "container" .name "work" "env" "env" $env
      "script" (printf "%s.sh" .name) "commandText" "python3 /etc/config/download.py"
      "files" (dict "download.py" (.root.Files.Get "files/download.py" | trim))) }}
{{- end }}
