{{/* common.pytorchjob: a PyTorchJob of `resources.nnodes` pods that run the same script: a master and workers, or, where the chart has an
     `elastic_policy`, workers that find each other. Context: that of common.begin. */}}
{{- define "common.pytorchjob" -}}
{{- include "common.begin" . }}
{{- $values := .root.Values }}
{{- $nodes := $values.resources.nnodes | int }}
{{- $elastic := $values.elastic_policy }}
{{- $workers := ternary $nodes (sub $nodes 1) (not (empty $elastic)) | int }}
{{- $longest := ternary (printf "%s-worker-%d" .name (sub $workers 1)) (printf "%s-master-0" .name) (gt $workers 0) }}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" $longest) }}
{{- if $elastic }}
{{- include "common.pytorch.elastic" (merge (dict "policy" $elastic) .) }}
{{- $_ := set . "before" (include "common.pytorch.awaitRendezvous" .) }}
{{- end -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script (include "common.recipeScript" .))) .) }}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  {{- with $values.resources.nproc_per_node }}
  nprocPerNode: {{ include "common.words" (list .) | quote }}
  {{- end }}
  runPolicy:
    cleanPodPolicy: Running
    backoffLimit: {{ $values.backoff_limit | int }}
    {{- include "common.limits" . | nindent 4 }}
  {{- with $elastic }}
  elasticPolicy:
    rdzvBackend: {{ .rdzv_backend }}
    rdzvId: {{ $.root.Release.Name | quote }}
    {{- with .rdzv_host }}
    rdzvHost: {{ . }}
    {{- end }}
    rdzvPort: {{ .rdzv_port | int }}
    minReplicas: {{ .min_replicas | int }}
    maxReplicas: {{ .max_replicas | int }}
    maxRestarts: {{ .max_restarts | int }}
  {{- end }}
  pytorchReplicaSpecs:
    {{- if not $elastic }}
    Master:
      {{- include "common.pytorchReplica" (merge (dict "role" "master" "replicas" 1) .) | nindent 6 }}
    {{- end }}
    {{- if gt $workers 0 }}
    Worker:
      {{- include "common.pytorchReplica" (merge (dict "role" "worker" "replicas" $workers) .) | nindent 6 }}
    {{- end }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.pytorchReplica: the spec of one replica type. A pod that fails is started again only when retries are asked for; otherwise its failure is
     the job's. Context: that of common.pytorchjob; role; replicas. */}}
{{- define "common.pytorchReplica" -}}
replicas: {{ .replicas }}
restartPolicy: {{ ternary "OnFailure" "Never" (gt (.root.Values.backoff_limit | int) 0) }}
template:
  {{- include "common.podTemplate" (merge (dict "command" (list "/bin/bash" (printf "/etc/config/%s" .script))) .) | nindent 2 }}
{{- end }}

{{/* common.pytorch.elastic: fills the numbers of replicas that the policy leaves open, all pods of the job, and refuses those that cannot be. */}}
{{- define "common.pytorch.elastic" -}}
{{- $nodes := .root.Values.resources.nnodes | int }}
{{- range $key := list "min_replicas" "max_replicas" }}
{{- $_ := set $.policy $key (get $.policy $key | default $nodes | int) }}
{{- end }}
{{- if gt .policy.min_replicas $nodes }}
{{- fail (printf "elastic_policy.min_replicas is %d but resources.nnodes is %d: the training would wait for pods that nobody starts" .policy.min_replicas $nodes) }}
{{- end }}
{{- if gt .policy.min_replicas .policy.max_replicas }}
{{- fail (printf "elastic_policy.min_replicas (%d) is more than max_replicas (%d)" .policy.min_replicas .policy.max_replicas) }}
{{- end }}
{{- end }}

{{/* common.pytorch.awaitRendezvous: the pods of an elastic job start in any order, and torchrun waits only a minute for the one where they meet. Its name
     resolves when its container runs. */}}
{{- define "common.pytorch.awaitRendezvous" -}}
# -- rendezvous
while [ "${PET_RDZV_ENDPOINT:-}" ] && ! getent hosts "${PET_RDZV_ENDPOINT%:*}" >/dev/null; do
  sleep 1
done
{{- end }}
