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
{{- $how := dict "root" . "where" "mpirun.args" "remedy" "set a variable in train.env and pass it on by its name, as -x HF_TOKEN" }}
{{- range .Values.mpirun.args }}
{{- $args = append $args (include "common.evaluate" (merge (dict "text" (toString .)) $how)) }}
{{- end }}
{{- $words := concat (list .Values.mpirun.command "-np" $ranks) $args (list "/bin/bash" "/etc/config/train-script.sh") }}
{{- /* ssh notices within four minutes that a worker's node is silent; stop.sh counts on that. */}}
{{- $options := "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ServerAliveInterval=60 -o ServerAliveCountMax=4" }}
{{- $ssh := printf "export %s=\"$%s %s\"" $implementation.ssh $implementation.ssh $options }}
{{- include "common.script" (dict
      "root" . "git" dict "done" "Training"
      "before" (printf "%s\n%s" (include "mpijob-distributed.awaitWorkers" .) $ssh)
      "pre" .Values.launcher.pre_script
      "command" (include "common.words" $words)
      "post" .Values.launcher.post_script) }}
{{- end }}

{{/* mpijob-distributed.stopScript: what runs in a container before its pod is ended. The kubelet would signal only the first process: the
     launcher's bash, which waits for mpirun, or sshd, whose end takes the ranks with it. And an mpirun that is signalled ends its ranks
     within two seconds. So every worker tells its own ranks, which then have the whole grace period; mpirun ends with them, and is told
     only ten seconds before that is over. */}}
{{- define "mpijob-distributed.stopScript" -}}
{{- $grace := .Values.termination_grace_period_seconds }}
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
  if [ "${words[*]}" = "/bin/bash /etc/config/train-script.sh" ]; then
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
