{{/* common.trainjob: a TrainJob of Kubeflow Trainer, and the TrainingRuntime that it refers to, which holds its pods. Trainer makes a JobSet of its name.
     Context: that of common.begin.
     Trainer refuses a TrainJob whose runtime is not there yet, and Helm creates unknown kinds in the order of their names, TrainJob first: not so what
     stands in one List. */}}
{{- define "common.trainjob" -}}
{{- include "common.begin" . }}
{{- include "common.jobsetBegin" . -}}
{{- $values := .root.Values }}
{{- $labels := dict "trainer.kubeflow.org/trainjob-ancestor-step" "trainer" -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script (include "common.recipeScript" .))) .) }}
---
apiVersion: v1
kind: List
metadata:
  name: {{ .name }}
items:
  - apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainingRuntime
    metadata:
      name: {{ .name }}
      labels:
        {{- include "common.labels" . | nindent 8 }}
    spec:
      mlPolicy:
        numNodes: {{ .nodes }}
        torch: {}
      template:
        spec:
          {{- include "common.jobsetSpec" (merge (dict "jobLabels" $labels) .) | nindent 10 }}
  - apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: {{ .name }}
      labels:
        {{- include "common.workloadLabels" . | nindent 8 }}
    spec:
      runtimeRef:
        apiGroup: trainer.kubeflow.org
        kind: TrainingRuntime
        name: {{ .name }}
      trainer:
        image: {{ .image | quote }}
        numNodes: {{ .nodes }}
        {{- if not (has $values.resources.nproc_per_node (list nil "" "auto")) }}
        numProcPerNode: {{ $values.resources.nproc_per_node | int }}
        {{- end }}
      {{- with $values.active_deadline_seconds }}
      activeDeadlineSeconds: {{ . | int }}
      {{- end }}
{{- include "common.networkPolicy" . }}
{{- end }}
