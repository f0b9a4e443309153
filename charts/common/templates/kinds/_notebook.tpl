{{/* common.notebook: Jupyter, and beside it TensorBoard, in one pod: a Deployment, its Service, and a Secret of what nobody may read.
     Context: root, prefix; translation, which makes `jupyter` a program by common.notebook.program; secrets, the values that the Secret keeps when they
     are text: its keys, and their dotted ones; and, optional, nginx: name of the template of its configuration. */}}
{{- define "common.notebook" -}}
{{- $_ := set . "component" "notebook" }}
{{- $_ := set . "work" "jupyter" }}
{{- $_ := set . "script" "notebook.sh" }}
{{- include "common.serverBegin" . }}
{{- with .nginx }}
{{- $text := include . $ }}
{{- $_ := set $ "files" (dict "nginx.conf" $text) }}
{{- $_ := set $.annotations "checksum/nginx" (sha256sum $text) }}
{{- end }}
{{- include "common.deployment" . }}
{{- include "common.secret" . }}
{{- end }}

{{/* common.notebook.program: the values of a program that serves notebooks to one person, as YAML.
     Context: values; name (of the container and of its port); ports; command; env (list); and, optional: probe (path to get), service (as for common.serverObjects). */}}
{{- define "common.notebook.program" -}}
{{- $probe := dict "path" (.probe | default "") "port" .name }}
{{- $given := list }}
{{- range .values.jupyter.env }}
{{- $given = append $given .name }}
{{- end }}
{{- $env := .values.jupyter.env }}
{{- range .env }}
{{- if not (has .name $given) }}
{{- $env = prepend $env . }}
{{- end }}
{{- end }}
{{- toYaml (dict "name" .name "ports" .ports "command" .command "env" $env "service" (.service | default dict)
      "startup_probe" (merge (dict "period_secs" 2 "failure_threshold" 150) $probe)
      "readiness_probe" (merge (dict "period_secs" 5 "failure_threshold" 3) $probe)
      "liveness_probe" (merge (dict "period_secs" 10 "failure_threshold" 6) $probe)
      "autoscaling" (dict "minReplicas" 1 "maxReplicas" 1) "strategy" "Recreate" "drain_secs" 0 "keep_alive" false) }}
{{- end }}

{{/* common.tokenEnv: the variable that Jupyter takes its token from, as JSON; without a token it makes one itself and writes it to its log.
     Context: values; secret (name of the Secret). */}}
{{- define "common.tokenEnv" -}}
{{- $source := include "common.secretSource" (dict "value" .values.token "name" .secret "key" "token") | fromJson }}
{{- toJson (ternary (list (dict "name" "JUPYTER_TOKEN" "valueFrom" $source)) list (not (empty $source))) }}
{{- end }}
