{{/* mpijob-distributed.rankEnvironment: sshd gives a session almost nothing of its container's environment. The worker writes it to a file
     at its start, and every rank reads it back: PATH of the image, env, envFrom, values of each pod's own. */}}
{{- define "mpijob-distributed.rankEnvironment" -}}
if [ -r /dev/shm/container-environment ]; then
  . /dev/shm/container-environment
fi
{{- end }}

{{/* mpijob-distributed.awaitWorkers: a worker is Ready before DNS knows it, and ssh does not try again a name that does not resolve. */}}
{{- define "mpijob-distributed.awaitWorkers" -}}
# -- workers
while read -r _step_host _; do
  _step_host="${_step_host%%:*}"
  for ((_step_try = 0; _step_try < 240; _step_try++)); do
    if getent hosts "$_step_host" >/dev/null; then
      continue 2
    fi
    sleep 0.25
  done
  echo "worker $_step_host does not resolve after 60 s" >&2
  exit 1
done </etc/mpi/hostfile
{{- end }}

{{/* mpijob-distributed.rankScript: what every rank runs: the recipe's program, in a clone of its own. */}}
{{- define "mpijob-distributed.rankScript" -}}
{{- $implementation := get (include "mpijob-distributed.implementations" . | fromYaml) .Values.mpi_implementation }}
{{- $clone := ternary (printf "-${%s:-0}" $implementation.rank) "" (gt (.Values.resources.nproc_per_node | int) 1) }}
{{- include "common.recipeScript" (dict "root" . "work" .Values.train "clone" $clone "before" (include "mpijob-distributed.rankEnvironment" .)) }}
{{- end }}

{{/* mpijob-distributed.launcherScript: what the launcher runs, once: its own lines, and mpirun between them. */}}
{{- define "mpijob-distributed.launcherScript" -}}
{{- $implementation := get (include "mpijob-distributed.implementations" . | fromYaml) .Values.mpi_implementation }}
{{- $ranks := mul (.Values.resources.nnodes | int) (.Values.resources.nproc_per_node | int) }}
{{- $args := list }}
{{- range .Values.mpirun.args }}
{{- $args = append $args (tpl (toString .) $) }}
{{- end }}
{{- $words := concat (list .Values.mpirun.command "-np" $ranks) $args (list "/bin/bash" "/etc/config/train-script.sh") }}
{{- $ssh := printf "export %s=\"$%s -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR\"" $implementation.ssh $implementation.ssh }}
{{- include "common.script" (dict
      "root" . "git" dict "done" "Training"
      "before" (printf "%s\n%s" (include "mpijob-distributed.awaitWorkers" .) $ssh)
      "pre" .Values.launcher.pre_script
      "command" (include "common.words" $words)
      "post" .Values.launcher.post_script) }}
{{- end }}
