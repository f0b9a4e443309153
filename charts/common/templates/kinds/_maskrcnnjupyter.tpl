{{/* common.maskrcnnJupyter: Jupyter with a GPU, and TensorBoard behind nginx, on the logs of a training of Mask R-CNN. Context: root. */}}
{{- define "common.maskrcnnJupyter" -}}
{{- include "common.notebook" (dict "root" .root "prefix" "{{ .Values.global.name }}" "translation" "common.maskrcnnJupyter.translation"
      "nginx" "common.maskrcnnJupyter.nginx" "secrets" (dict "token" "token" "htpasswd" "nginx.htpasswd")) }}
{{- end }}

{{/* common.maskrcnnJupyter.translation: the values of `global`, `jupyter`, `tensorboard` and `nginx` as shared ones. */}}
{{- define "common.maskrcnnJupyter.translation" -}}
{{- $global := .Values.global }}
{{- $jupyter := .Values.jupyter }}
{{- $board := .Values.tensorboard }}
{{- $nginx := .Values.nginx }}
{{- $secret := printf "%s-%s" $global.name .Release.Name }}
{{- if not $nginx.htpasswd }}
{{- fail "nginx.htpasswd is empty: give the hash of TensorBoard's password, as `openssl passwd -6` prints it, or {secretKeyRef: {name: …, key: …}}" }}
{{- end }}
{{- $service := dict }}
{{- with $global.source_cidr }}
{{- if and (hasSuffix "/0" .) (not $global.allow_public) }}
{{- fail (printf "global.source_cidr is %s, the whole Internet: name the network of those who work here, or set global.allow_public" .) }}
{{- end }}
{{- $annotations := dict "type" "external" "nlb-target-type" "ip" "scheme" "internet-facing" }}
{{- $service = dict "type" "LoadBalancer" "loadBalancerSourceRanges" (list .) "annotations" dict }}
{{- range $name, $value := $annotations }}
{{- $_ := set $service.annotations (printf "service.beta.kubernetes.io/aws-load-balancer-%s" $name) $value }}
{{- end }}
{{- end }}
{{- $logs := clean (printf "/%s/%s" $global.shared_fs $global.log_dir) }}
{{- $command := list "jupyter notebook" "--allow-root" "--no-browser" "--ip=0.0.0.0" (printf "--port=%d" ($jupyter.target_port | int)) }}
{{- /* 5 is TLS 1.2 to Python's ssl. */}}
{{- range list (printf "--certfile=%s" $nginx.ssl_certificate) (printf "--keyfile=%s" $nginx.ssl_certificate_key) "--ServerApp.ssl_options={'ssl_version': 5}" "--notebook-dir=/notebooks" }}
{{- $command = append $command (include "common.shellQuote" .) }}
{{- end }}
{{- $env := append (include "common.tokenEnv" (dict "values" .Values "secret" $secret) | fromJsonArray) (dict "name" "LOGDIR" "value" $logs) }}
{{- $ports := list
      (dict "name" $jupyter.name "value" $jupyter.target_port "service" $jupyter.port)
      (dict "name" $board.name "value" $board.target_port "service" $board.port) }}
{{- $start := "printf '%s:%s\\n' \"$TENSORBOARD_USER\" \"$TENSORBOARD_HASH\" >/tmp/htpasswd && exec nginx -c /etc/config/nginx.conf" -}}
pvc: {{ include "common.sharedClaims" .Values }}
resources: {node_type: {{ .Values.resources.node_type | default $jupyter.gpu_instance_type | toJson }}}
jupyter:
  {{- include "common.notebook.program" (dict "values" .Values "name" $jupyter.name "ports" $ports "service" $service "command" $command "env" $env) | nindent 2 }}
init_containers:
  - name: {{ $board.name }}
    restartPolicy: Always
    command: [tensorboard, {{ printf "--logdir=%s/train_log/maskrcnn" $logs | quote }}, --port={{ $board.upstream_port }}]
    resources: {requests: {cpu: 100m, memory: 512Mi}}
  - name: {{ $nginx.name }}
    restartPolicy: Always
    command: [/bin/bash, -c, {{ $start | quote }}]
    env:
      - {name: TENSORBOARD_USER, value: {{ $nginx.user | quote }}}
      - {name: TENSORBOARD_HASH, valueFrom: {{ include "common.secretSource" (dict "value" $nginx.htpasswd "name" $secret "key" "htpasswd") }}}
    resources: {requests: {cpu: 50m, memory: 64Mi}}
  {{- with .Values.init_containers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* common.maskrcnnJupyter.nginx: TLS and a password in front of TensorBoard. Which clients may come is the load balancer's matter: nginx sees only its address. */}}
{{- define "common.maskrcnnJupyter.nginx" -}}
{{- $values := .root.Values -}}
user www-data;
worker_processes auto;
daemon off;
pid /tmp/nginx.pid;
error_log stderr;

events {
  worker_connections 768;
}

http {
  access_log /dev/stdout;

  server {
    listen {{ $values.tensorboard.target_port }} ssl;

    ssl_certificate {{ $values.nginx.ssl_certificate }};
    ssl_certificate_key {{ $values.nginx.ssl_certificate_key }};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;
    ssl_prefer_server_ciphers on;
    ssl_session_tickets off;
    add_header Strict-Transport-Security "max-age=63072000";
    add_header X-Content-Type-Options nosniff;

    location / {
      auth_basic "TensorBoard";
      auth_basic_user_file /tmp/htpasswd;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_pass http://127.0.0.1:{{ $values.tensorboard.upstream_port }};
    }
  }
}
{{- end }}
