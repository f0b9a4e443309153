{{/* mpijob-distributed.name: the MPIJob; its pods, host names and Services are named after it.
     Usage: include "mpijob-distributed.name" . */}}
{{- define "mpijob-distributed.name" -}}
{{- $name := printf "mpijob-%s" .Release.Name }}
{{- $worker := printf "%s-worker-%d" $name (sub (.Values.resources.nnodes | int) 1) }}
{{- $launcher := printf "%s-launcher" $name }}
{{- include "common.name" (dict "root" . "name" $name "longest" (ternary $worker $launcher (ge (len $worker) (len $launcher)))) }}
{{- end }}

{{/* mpijob-distributed.implementations: what differs between MPI implementations.
     ssh:  the variable whose value mpirun hands to ssh (the operator sets it; we add to it).
     rank: the variable that numbers the ranks of one pod from 0. */}}
{{- define "mpijob-distributed.implementations" -}}
OpenMPI: {ssh: OMPI_MCA_plm_rsh_args, rank: OMPI_COMM_WORLD_LOCAL_RANK}
Intel: {ssh: I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS, rank: MPI_LOCALRANKID}
MPICH: {ssh: HYDRA_LAUNCH_EXTRA_ARGS, rank: MPI_LOCALRANKID}
{{- end }}

{{/* mpijob-distributed.validate: rules between values. Usage: include "mpijob-distributed.validate" . */}}
{{- define "mpijob-distributed.validate" -}}
{{- include "common.validate" (dict "root" . "work" .Values.train "workKey" "train" "image" .Values.image "imageKey" "image"
      "resources" (dict "resources" .Values.resources "launcher.resources" .Values.launcher.resources)) }}
{{- if and (ne .Values.mpi_implementation "OpenMPI") (has "--allow-run-as-root" .Values.mpirun.args) }}
{{- fail (printf "mpirun.args holds options of OpenMPI, but mpi_implementation is %s: set mpirun.args, [] for none" .Values.mpi_implementation) }}
{{- end }}
{{- end }}
