{{/* common.pytorchjob: a PyTorchJob of `resources.nnodes` pods that run the same script. Context: that of common.begin. */}}
{{- define "common.pytorchjob" -}}
{{- include "common.begin" . }}
{{- $values := .root.Values }}
{{- $workers := sub ($values.resources.nnodes | int) 1 }}
{{- $longest := ternary (printf "%s-worker-%d" .name (sub $workers 1)) (printf "%s-master-0" .name) (gt $workers 0) }}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" $longest) -}}
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
  pytorchReplicaSpecs:
    Master:
      {{- include "common.pytorchReplica" (merge (dict "role" "master" "replicas" 1) .) | nindent 6 }}
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
