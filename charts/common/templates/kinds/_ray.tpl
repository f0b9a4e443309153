{{/* common.rayjob: a RayJob: a cluster of a head, which runs the script as Ray's driver, and of `resources.nnodes` workers; and a submitter, which shows the
     driver's output. Context: that of common.begin; and group, the name of the group of workers. */}}
{{- define "common.rayjob" -}}
{{- include "common.ray.begin" . }}
{{- $values := .root.Values }}
{{- $nodes := $values.resources.nnodes | int }}
{{- $runtime := $values.ray.runtime_env_yaml | default "" }}
{{- if kindIs "map" $runtime }}
{{- $runtime = $runtime.runtimeEnvYAML }}
{{- end }}
{{- include "common.ray.yaml" (dict "text" $runtime "key" "ray.runtime_env_yaml") }}
{{- /* How long Ray waits for a driver that it stops, and, as stop.sh has waited for the driver, no longer for what a node runs. */}}
{{- $_ := set . "env" (list
      (dict "name" "RAY_JOB_STOP_WAIT_TIME_S" "value" (max 1 (sub (.grace | int) 10) | toString))
      (dict "name" "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S" "value" "0")) }}
{{- /* A Ray that stops a job signals all of its processes; tee ends with what feeds it, and has to stay until then. */}}
{{- $script := include "common.recipeScript" (merge (dict "before" "tee() (trap '' TERM; exec tee \"$@\")") .) }}
{{- /* A head that is started again in place has lost its job. */}}
{{- $cluster := merge (dict "fewest" $nodes "most" $nodes "restart" (dict "head" "Never" "worker" "OnFailure")) . }}
{{- $submitter := merge (dict "role" "submitter" "container" "job-submitter" "command" list "restartPolicy" "Never") . }}
{{- include "common.role" (dict "context" $submitter "own" (pick $values.ray "resources" "tolerations") "inherit" false) -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script $script "stop.sh" (include "common.ray.stopScript" .))) .) }}
---
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  entrypoint: /bin/bash /etc/config/{{ .script }}
  submissionMode: K8sJobMode
  shutdownAfterJobFinishes: true
  backoffLimit: {{ $values.backoff_limit | int }}
  {{- include "common.limits" . | nindent 2 }}
  {{- with $runtime }}
  {{- toYaml (dict "runtimeEnvYAML" .) | nindent 2 }}
  {{- end }}
  submitterPodTemplate:
    {{- include "common.podTemplate" $submitter | nindent 4 }}
  rayClusterSpec:
    {{- include "common.ray.cluster" $cluster | nindent 4 }}
{{- include "common.ray.networkPolicy" . }}
{{- end }}

{{/* common.rayservice: a RayService: a cluster of a head and of `resources.min_replicas` to `max_replicas` workers, which run Serve applications.
     Context: that of common.begin, with no script; and group, the name of the group of workers. */}}
{{- define "common.rayservice" -}}
{{- $_ := set . "drain" 10 }}
{{- include "common.ray.begin" . }}
{{- $values := .root.Values }}
{{- $fewest := $values.resources.min_replicas | int }}
{{- $most := $values.resources.max_replicas | int }}
{{- if lt $most $fewest }}
{{- fail (printf "resources.max_replicas (%d) is less than resources.min_replicas (%d)" $most $fewest) }}
{{- end }}
{{- $serve := $values.ray.serve_config_v2.serveConfigV2 }}
{{- if not $serve }}
{{- fail "there is nothing to serve: set ray.serve_config_v2.serveConfigV2 to the Serve applications, as text" }}
{{- end }}
{{- include "common.ray.yaml" (dict "text" $serve "key" "ray.serve_config_v2.serveConfigV2") }}
{{- /* How long Ray waits for Serve to move what the node runs. */}}
{{- $_ := set . "env" (list (dict "name" "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S" "value" (max 0 (sub (.grace | int) (add 10 .drain)) | toString))) }}
{{- $cluster := merge (dict "fewest" $fewest "most" $most "restart" $values.ray.restart_policy) . -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict "stop.sh" (include "common.ray.stopScript" .))) .) }}
---
apiVersion: ray.io/v1
kind: RayService
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
  {{- with $values.ray.initializing_timeout_secs }}
  annotations:
    ray.io/initializing-timeout: {{ . | int | quote }}
  {{- end }}
spec:
  {{- toYaml (dict "serveConfigV2" $serve) | nindent 2 }}
  rayClusterConfig:
    {{- include "common.ray.cluster" $cluster | nindent 4 }}
{{- include "common.ray.networkPolicy" . }}
{{- end }}

{{/* common.ray.begin: what both kinds begin with. Adds to the context: appName, headPorts, grace (seconds). */}}
{{- define "common.ray.begin" -}}
{{- include "common.begin" . }}
{{- $values := .root.Values }}
{{- /* KubeRay names the cluster `<name>-<5 letters>` and a Service `<cluster>-serve-svc`, and refuses a longer name. */}}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" (printf "%s-abcde-serve-svc" .name)) }}
{{- /* The Service of the head that KubeRay makes for a RayJob or RayService selects pods of this name. */}}
{{- $_ := set . "appName" "kuberay" }}
{{- $_ := set . "gracePeriod" (add 30 (.drain | default 0)) }}
{{- $grace := $values.termination_grace_period_seconds }}
{{- $_ := set . "grace" (ternary .gracePeriod $grace (kindIs "invalid" $grace)) }}
{{- $ports := list }}
{{- $names := list }}
{{- $numbers := list }}
{{- range $values.ray.ports }}
{{- $ports = append $ports (dict "name" .name "containerPort" (.port | int)) }}
{{- $names = append $names .name }}
{{- $numbers = append $numbers (.port | int) }}
{{- end }}
{{- range $name, $number := omit (dict "gcs-server" 6379 "client" 10001 "dashboard" 8265 "serve" 8000) (ternary "serve" "" (hasKey . "script")) }}
{{- if and (not (has $name $names)) (has $number $numbers) (has $name (list "dashboard" "serve")) }}
{{- fail (printf "ray.ports has port %d without the name %s, by which KubeRay finds it: name it so" $number $name) }}
{{- end }}
{{- if not (or (has $name $names) (has $number $numbers)) }}
{{- $ports = append $ports (dict "name" $name "containerPort" $number) }}
{{- end }}
{{- end }}
{{- $_ := set . "headPorts" $ports }}
{{- end }}

{{/* common.ray.yaml: refuses text that is no YAML map, which KubeRay would say only in the status of the workload. */}}
{{- define "common.ray.yaml" -}}
{{- $found := .text | default "" | fromYaml }}
{{- if $found.Error }}
{{- fail (printf "%s is no map of YAML: %s" .key (regexReplaceAll "\\s+" $found.Error " ")) }}
{{- end }}
{{- end }}

{{/* common.ray.cluster: the spec of a RayCluster. Ray schedules accelerated work on the workers: the head is a pod of its own kind, which needs none of their
     nodes. Context: that of common.ray.begin; fewest and most workers; restart (head, worker). */}}
{{- define "common.ray.cluster" -}}
{{- $values := .root.Values }}
{{- $scales := gt .most .fewest }}
{{- $own := merge (pick $values.ray "resources" "tolerations") (pick $values "ebs" "init_containers" "sidecars") }}
{{- if $scales }}
{{- /* The autoscaler runs in the head's pod, by a service account that KubeRay makes. */}}
{{- $_ := set $own "pod" (dict "automountServiceAccountToken" true) }}
{{- end }}
{{- $head := merge (dict "role" "head" "container" "ray-head" "command" list "restartPolicy" .restart.head "extra" (toYaml (dict "ports" .headPorts))) . }}
{{- include "common.role" (dict "context" $head "own" $own "inherit" false) }}
{{- $serve := list }}
{{- range .headPorts }}
{{- if hasPrefix "serve" .name }}
{{- $serve = append $serve . }}
{{- end }}
{{- end }}
{{- $worker := merge (dict "role" "worker" "container" "ray-worker" "command" list "restartPolicy" .restart.worker) . }}
{{- $_ := set $worker "extra" (ternary (toYaml (dict "ports" $serve)) "" (gt (len $serve) 0)) -}}
rayVersion: {{ $values.ray.version | quote }}
{{- if $scales }}
enableInTreeAutoscaling: true
autoscalerOptions:
  imagePullPolicy: {{ .pullPolicy }}
  {{- with $values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
headGroupSpec:
  rayStartParams:
    dashboard-host: {{ $values.ray.dashboard.host | quote }}
  template:
    {{- include "common.podTemplate" $head | nindent 4 }}
workerGroupSpecs:
  - groupName: {{ .group }}
    replicas: {{ .fewest }}
    minReplicas: {{ .fewest }}
    maxReplicas: {{ .most }}
    rayStartParams:
      {{- include "common.ray.workerParams" (dict "resources" $values.resources "scales" $scales) | nindent 6 }}
    template:
      {{- include "common.podTemplate" $worker | nindent 6 }}
{{- end }}

{{/* common.ray.workerParams: options of `ray start` on a worker. KubeRay gives it the CPUs that the pod asks for; a recipe that names none means all of the node,
     not our small request. The shell of the container fills that in; Ray's autoscaler wants a number beforehand. */}}
{{- define "common.ray.workerParams" -}}
{{- $named := merge (dict) (.resources.limits | default dict) (.resources.requests | default dict) }}
{{- $params := dict }}
{{- if not (hasKey $named "cpu") }}
{{- $guess := mul 8 (get $named "nvidia.com/gpu" | default 1) | toString }}
{{- $_ := set $params "num-cpus" (ternary $guess "$(getconf _NPROCESSORS_ONLN)" .scales) }}
{{- end }}
{{- toYaml $params }}
{{- end }}

{{/* common.ray.networkPolicy: KubeRay follows a cluster by its dashboard, and clients reach Serve. */}}
{{- define "common.ray.networkPolicy" }}
{{- $operator := list }}
{{- $clients := list }}
{{- range .headPorts }}
{{- if hasPrefix "serve" .name }}
{{- $clients = append $clients .containerPort }}
{{- else if eq .name "dashboard" }}
{{- $operator = append $operator (dict "port" .containerPort) }}
{{- end }}
{{- end }}
{{- $from := dict "namespaceSelector" dict "podSelector" (dict "matchLabels" (dict "app.kubernetes.io/component" "kuberay-operator")) }}
{{- include "common.networkPolicy" (merge (dict "ports" $clients "ingress" (list (dict "from" (list $from) "ports" $operator))) .) }}
{{- end }}

{{/* common.ray.stopScript: what runs in a container before its pod is ended. `ray start`, which the kubelet's signal may not reach through bash, ends all that is
     Ray's in order; `ray stop`, from beside it, would leave it waiting for what is no longer there. A job's driver comes first, and has its workers for as long
     as the grace period allows. */}}
{{- define "common.ray.stopScript" -}}
{{- $left := max 0 (sub (.grace | int) 10) -}}
#!/bin/bash
# pids PATTERN: prints the processes whose command line matches.
pids() {
  local process words
  for process in /proc/[0-9]*; do
    words=()
    mapfile -d '' -t words <"$process/cmdline"
    if [[ "${words[*]}" =~ $1 ]]; then
      echo "${process#/proc/}"
    fi
  done 2>/dev/null
}
{{- with .drain }}

# Requests still arrive until every node knows that this pod is no longer behind the Service.
sleep {{ . }}
{{- end }}
{{- if .script }}

# session PID: prints its session.
session() {
  local number
  number="$(<"/proc/$1/stat")" && read -r _ _ _ number _ <<<"${number##*) }" && echo "$number"
}

if [ "${RAY_JOB_SUBMISSION_ID:-}" ]; then
  # The submitter: it shows what the driver writes to its end.
  exit 0
elif [ "${FQ_RAY_IP:-}" ]; then
  # A worker: the driver may need it to save. It goes after the head.
  while [ "$SECONDS" -lt {{ $left }} ] && timeout 5 bash -c ": <>/dev/tcp/$FQ_RAY_IP/${RAY_PORT:-6379}" 2>/dev/null; do
    sleep 1
  done
else
  # The script, which began before what it started, first: it runs nothing more once its program has ended.
  driver='^/bin/bash /etc/config/{{ .script | replace "." "\\." }}$'
  script="$(pids "$driver" | sort -n | head -n 1)"
  if [ "$script" ]; then
    kill -TERM "$script"
    # What Ray starts the script with leads its session, and has to stay: Ray kills what is left when that ends.
    leader="$(session "$script")"
    stdin="$(readlink "/proc/$script/fd/0")"
    for process in /proc/[0-9]*; do
      pid="${process#/proc/}"
      here="$(readlink "$process/fd/0")"
      # What reads from a pipe of the script (tee) ends with what feeds it, and has to stay until then.
      if [[ "$pid" != "$leader" && "$pid" != "$script" && "$pid" != "$$" && "$(session "$pid")" = "$leader" ]] &&
        [[ "$here" != pipe:* || "$here" = "$stdin" ]]; then
        kill -TERM "$pid"
      fi
    done 2>/dev/null
    while [ "$SECONDS" -lt {{ $left }} ] && [ "$(pids "$driver")" ]; do
      sleep 0.5
    done
  fi
fi
{{- end }}

mapfile -t ray < <(pids '/ray start ')
kill -TERM "${ray[@]}" 2>/dev/null
exit 0
{{- end }}
