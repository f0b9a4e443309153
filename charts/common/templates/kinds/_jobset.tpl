{{/* common.jobset: a JobSet of one indexed Job, of `resources.nnodes` pods that run the same script and are told their rank and where the first one is.
     Context: that of common.begin. */}}
{{- define "common.jobset" -}}
{{- include "common.begin" . }}
{{- include "common.jobsetBegin" . }}
{{- $_ := set . "env" (include "common.jobset.env" . | fromYamlArray) -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script (include "common.recipeScript" .))) .) }}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  {{- include "common.jobsetSpec" (merge (dict "deadline" .root.Values.active_deadline_seconds) .) | nindent 2 }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.jobsetBegin: what both kinds that end in a JobSet begin with. The JobSet names a pod <name>-node-0-<rank>-<five characters>.
     Adds to the context: nodes, container. */}}
{{- define "common.jobsetBegin" -}}
{{- $_ := set . "nodes" (.root.Values.resources.nnodes | int) }}
{{- $_ := set . "container" "node" }}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" (printf "%s-node-0-%d-xxxxx" .name (sub .nodes 1))) }}
{{- end }}

{{/* common.jobsetSpec: the spec of the JobSet. A pod that fails ends all pods; with retries asked for, all start again, as a trainer needs all its ranks.
     Context: that of common.jobsetBegin; and, optional, jobLabels (map), deadline (seconds; a JobSet has none of its own, its Job has). */}}
{{- define "common.jobsetSpec" -}}
{{- $values := .root.Values -}}
{{- if not (kindIs "invalid" $values.ttl_seconds_after_finished) -}}
ttlSecondsAfterFinished: {{ $values.ttl_seconds_after_finished | int }}
{{ end -}}
failurePolicy:
  maxRestarts: {{ $values.backoff_limit | int }}
  {{- if .deadline }}
  rules:
    - name: deadline
      action: FailJobSet
      onJobFailureReasons: [DeadlineExceeded]
  {{- end }}
replicatedJobs:
  - name: node
    replicas: 1
    template:
      {{- with .jobLabels }}
      metadata:
        labels:
          {{- toYaml . | nindent 10 }}
      {{- end }}
      spec:
        completionMode: Indexed
        completions: {{ .nodes }}
        parallelism: {{ .nodes }}
        backoffLimit: 0
        podReplacementPolicy: Failed
        {{- with .deadline }}
        activeDeadlineSeconds: {{ . | int }}
        {{- end }}
        template:
          {{- include "common.podTemplate" (merge (dict "command" (list "/bin/bash" (printf "/etc/config/%s" .script)) "restartPolicy" "Never") .) | nindent 10 }}
{{- end }}

{{/* common.jobset.env: the variables of rank and world, as YAML, under the names that PyTorchJobs have, so that a recipe runs on both. */}}
{{- define "common.jobset.env" -}}
{{- $host := printf "%s-node-0-0.%s" .name .name }}
{{- $port := "29500" }}
{{- $processes := include "common.words" (list (.root.Values.resources.nproc_per_node | default "auto")) }}
{{- $known := ternary ($processes | int) 1 (regexMatch "^[0-9]+$" $processes) }}
{{- range $name, $value := dict "PET_NNODES" .nodes "PET_NPROC_PER_NODE" $processes "PET_MASTER_ADDR" $host "PET_MASTER_PORT" $port
      "MASTER_ADDR" $host "MASTER_PORT" $port "COORDINATOR_ADDRESS" (printf "%s:%s" $host $port) "WORLD_SIZE" (mul .nodes $known) }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- range list "PET_NODE_RANK" "RANK" }}
- {name: {{ . }}, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}
{{- end }}
{{- end }}
