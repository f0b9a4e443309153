{{/* common.mpijob: an MPIJob, one launcher that runs mpirun, and workers that serve its ranks.
     `resources.nnodes` is the number of workers, `resources.nproc_per_node` that of the ranks in each. Context: that of common.begin. */}}
{{- define "common.mpijob" -}}
{{- include "common.begin" . }}
{{- $values := .root.Values }}
{{- $_ := set . "workers" ($values.resources.nnodes | int) }}
{{- $_ := set . "ranks" ($values.resources.nproc_per_node | int) }}
{{- $_ := set . "env" $values.mpirun.env }}
{{- $worker := printf "%s-worker-%d" .name (sub .workers 1) }}
{{- $launcher := printf "%s-launcher" .name }}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" (ternary $worker $launcher (ge (len $worker) (len $launcher)))) }}
{{- if and (ne $values.mpi_implementation "OpenMPI") (has "--allow-run-as-root" $values.mpirun.args) }}
{{- fail (printf "mpirun.args holds options of OpenMPI, but mpi_implementation is %s: set mpirun.args, [] for none" $values.mpi_implementation) }}
{{- end }}
{{- $scripts := dict
      "launcher-script.sh" (include "common.mpi.launcherScript" .)
      "stop.sh" (include "common.mpi.stopScript" .)
      .script (include "common.mpi.rankScript" .) }}
{{- $launcher = merge (dict "role" "launcher" "container" "launcher" "command" (list "/bin/bash" "/etc/config/launcher-script.sh")) . }}
{{- include "common.role" (dict "context" $launcher "own" $values.launcher "inherit" false) }}
{{- $sshd := "export -n PWD OLDPWD SHLVL; (umask 077; export -p >/dev/shm/container-environment); mkdir -p /run/sshd 2>/dev/null || true; exec \"$@\"" }}
{{- $worker = merge (dict "role" "worker" "container" "worker" "command" (concat (list "/bin/bash" "-c" $sshd "sshd") $values.ssh.command)) . }}
{{- include "common.role" (dict "context" $worker "own" dict "inherit" true) -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" $scripts) .) }}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  slotsPerWorker: {{ .ranks }}
  mpiImplementation: {{ $values.mpi_implementation }}
  sshAuthMountPath: {{ $values.ssh.auth_mount_path }}
  launcherCreationPolicy: WaitForWorkersReady
  runPolicy:
    cleanPodPolicy: Running
    backoffLimit: {{ $values.backoff_limit | int }}
    {{- include "common.limits" . | nindent 4 }}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      restartPolicy: Never
      template:
        {{- include "common.podTemplate" $launcher | nindent 8 }}
    Worker:
      replicas: {{ .workers }}
      {{- /* A worker only waits for ssh: it fails when it is killed. With retries asked for it is started again for the next launcher. */}}
      restartPolicy: {{ ternary "OnFailure" "Never" (gt ($values.backoff_limit | int) 0) }}
      template:
        {{- include "common.podTemplate" $worker | nindent 8 }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.mpi.gpuWorkers: the translation of `gpu_nodes`, `gpus_per_node` and `gpu_instance_type`: so many workers, with a rank on each GPU.
     Usage: include "common.mpi.gpuWorkers" (dict "values" .Values "group" "resources"), the group that holds them. */}}
{{- define "common.mpi.gpuWorkers" -}}
{{- $given := get .values .group }}
{{- $asked := get (.values.resources.limits | default dict) "nvidia.com/gpu" }}
{{- if and $asked (ne (toString $asked) (toString $given.gpus_per_node)) }}
{{- fail (printf "resources.limits has nvidia.com/gpu: %v but %s.gpus_per_node is %v: one rank runs on each GPU, so set the two equal, or only the latter" $asked .group $given.gpus_per_node) }}
{{- end -}}
resources:
  nnodes: {{ $given.gpu_nodes }}
  nproc_per_node: {{ $given.gpus_per_node }}
  node_type: {{ $given.gpu_instance_type | toJson }}
  requests: {nvidia.com/gpu: {{ $given.gpus_per_node }}}
  limits: {nvidia.com/gpu: {{ $given.gpus_per_node }}}
{{- end }}

{{/* common.mpi.implementations: what differs between MPI implementations.
     ssh: the variable whose value mpirun hands to ssh (the operator sets it; we add to it). */}}
{{- define "common.mpi.implementations" -}}
OpenMPI: {ssh: OMPI_MCA_plm_rsh_args}
Intel: {ssh: I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS}
MPICH: {ssh: HYDRA_LAUNCH_EXTRA_ARGS}
{{- end }}
{{/* common.mpi.rankEnvironment: sshd gives a session almost nothing of its container's environment. The worker writes it to a file
     at its start, and every rank reads it back: PATH of the image, env, envFrom, values of each pod's own. */}}
{{- define "common.mpi.rankEnvironment" -}}
if [ -r /dev/shm/container-environment ]; then
  . /dev/shm/container-environment
fi
{{- end }}

{{/* common.mpi.awaitWorkers: a worker is Ready before DNS knows it, and ssh does not try again a name that does not resolve. */}}
{{- define "common.mpi.awaitWorkers" -}}
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

{{/* common.mpi.rankScript: what every rank runs: the recipe's program, in the clone of its pod. */}}
{{- define "common.mpi.rankScript" -}}
{{- include "common.recipeScript" (merge (dict "shared" (gt .ranks 1) "before" (include "common.mpi.rankEnvironment" .)) (omit . "done")) }}
{{- end }}

{{/* common.mpi.launcherScript: what the launcher runs, once: its own lines, and mpirun between them; it always ends where one fails. */}}
{{- define "common.mpi.launcherScript" -}}
{{- $values := .root.Values }}
{{- $implementation := get (include "common.mpi.implementations" . | fromYaml) $values.mpi_implementation }}
{{- $args := list }}
{{- $how := dict "root" .root "where" "mpirun.args" "remedy" "set a variable in train.env and pass it on by its name, as -x HF_TOKEN" }}
{{- range $values.mpirun.args }}
{{- $args = append $args (include "common.evaluate" (merge (dict "text" (toString .)) $how)) }}
{{- end }}
{{- $count := list "-np" (mul .workers .ranks) }}
{{- if regexMatch "(^|\\s)--?(np|n|c)(\\s|$)" (join " " $args) }}
{{- $count = list }}
{{- end }}
{{- $words := concat (list $values.mpirun.command) $count $args (list "/bin/bash" (printf "/etc/config/%s" .script)) }}
{{- /* ssh notices within four minutes that a worker's node is silent; stop.sh counts on that. */}}
{{- $options := "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ServerAliveInterval=60 -o ServerAliveCountMax=4" }}
{{- $ssh := printf "export %s=\"$%s %s\"" $implementation.ssh $implementation.ssh $options }}
{{- include "common.script" (dict
      "root" .root "git" dict "done" .done
      "before" (printf "%s\n%s" (include "common.mpi.awaitWorkers" .) $ssh)
      "pre" $values.launcher.pre_script
      "command" (include "common.words" $words)
      "post" $values.launcher.post_script) }}
{{- end }}

{{/* common.mpi.stopScript: what runs in a container before its pod is ended. The kubelet would signal only the first process: the
     launcher's bash, which waits for mpirun, or sshd, whose end takes the ranks with it. And an mpirun that is signalled ends its ranks
     within two seconds. So every worker tells its own ranks, which then have the whole grace period; mpirun ends with them, and is told
     only ten seconds before that is over. */}}
{{- define "common.mpi.stopScript" -}}
{{- $grace := .root.Values.termination_grace_period_seconds }}
{{- $grace = ternary 30 $grace (kindIs "invalid" $grace) | int -}}
#!/bin/bash
if [ "$(</proc/1/comm)" = bash ]; then
  # The launcher. bash runs nothing more once mpirun has ended.
  kill -TERM 1
  # Where the launcher alone has to go, its mpirun is left to tell the ranks. The ssh it works through has to stay until then.
  (
    heard='' quiet=0
    for ((left = {{ max 0 (sub $grace 10) }}; left > 0 && quiet < 10; left--)); do
      sleep 1
      found=''
      for process in /proc/[0-9]*; do
        if [ "$(<"$process/comm")" = ssh ]; then
          heard=yes found=yes
        fi
      done
      # With no ssh left mpirun waits for a rank that will never answer, as its node was lost.
      if [ "$heard" ] && [ -z "$found" ]; then
        quiet=$((quiet + 1))
      fi
    done
    for process in /proc/[0-9]*; do
      pid="${process#/proc/}"
      if [ "$pid" != 1 ] && [ "$pid" != "$BASHPID" ] && [ "$(<"$process/comm")" != ssh ]; then
        kill -TERM "$pid"
      fi
    done
  ) </dev/null >/dev/null 2>&1 &
  exit 0
fi

# A worker. Its ranks are the scripts that mpirun started, and what these started.
declare -A stdin=()
for process in /proc/[0-9]*; do
  words=()
  mapfile -d '' -t words <"$process/cmdline"
  if [ "${words[*]}" = "/bin/bash /etc/config/{{ .script }}" ]; then
    stdin[${process#/proc/}]="$(readlink "$process/fd/0")"
  fi
done 2>/dev/null

# parent PID: prints its parent, 0 for one that is gone.
parent() {
  local key value
  while read -r key value; do
    if [ "$key" = PPid: ]; then
      echo "$value"
      return
    fi
  done <"/proc/$1/status"
  echo 0
}

# Scripts first, so that they run nothing more once their programs have ended.
kill -TERM "${!stdin[@]}" 2>/dev/null
for process in /proc/[0-9]*; do
  pid="${process#/proc/}"
  script="$(parent "$pid")"
  while [ "$script" -gt 1 ] && ! [ -v "stdin[$script]" ]; do
    script="$(parent "$script")"
  done
  here="$(readlink "$process/fd/0")"
  # What reads from a pipe of its script (tee) ends with what feeds it, and has to stay until then.
  if [ -v "stdin[$script]" ] && [[ "$here" != pipe:* || "$here" = "${stdin[$script]}" ]]; then
    kill -TERM "$pid"
  fi
done 2>/dev/null

# The container ends with sshd: not before nothing else is left, or the grace period is over.
while processes=(/proc/[0-9]*) && [ "${#processes[@]}" -gt 2 ]; do
  sleep 0.1
done
exit 0
{{- end }}
