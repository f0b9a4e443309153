{{/* common.kserve: an InferenceService in KServe's mode without Knative: of it KServe makes a Deployment, its Service and its autoscaler. What serves is the
     recipe's program, in a container like that of any server, or, with `model.format`, one of KServe's runtimes, which knows its command, ports and
     probes. Context: that of common.begin. */}}
{{- define "common.kserve" -}}
{{- /* A runtime needs no command. */}}
{{- $_ := set . "commandText" "a runtime" }}
{{- include "common.begin" . }}
{{- $_ := unset . "commandText" }}
{{- $values := .root.Values }}
{{- $model := $values.model }}
{{- $program := or .program.command .program.args $values.pre_script $values.inline_script }}
{{- if and $model.format $program }}
{{- fail (printf "model.format is %s, so that a runtime of KServe serves the model, but there is a program too (server.command, pre_script): keep one" $model.format) }}
{{- else if not (or $model.format $program) }}
{{- fail "there is nothing to run: set server.command or pre_script, or model.format for a runtime of KServe" }}
{{- end }}
{{- /* KServe labels pods with isvc.<name>-predictor. */}}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" (printf "isvc-%s-predictor" .name)) }}
{{- if and $program $model.storage_uri }}
{{- $_ := set . "env" (list (dict "name" "STORAGE_URI" "value" $model.storage_uri)) }}
{{- end }}
{{- include "common.serverContext" . }}
{{- $autoscaling := .program.autoscaling }}
{{- $metrics := include "common.metrics" $autoscaling.metrics | fromYamlArray }}
{{- range $metrics }}
{{- if ne .type "Resource" }}
{{- fail (printf "server.autoscaling.metrics has one of type %s: the autoscaler that KServe makes takes Resource, of cpu or memory" .type) }}
{{- end }}
{{- end }}
{{- if $model.format }}
{{- $_ := set . "annotations" dict }}
{{- $_ := set . "preStop" (dict "sleep" (dict "seconds" (max 1 .drain))) }}
{{- else }}
{{- $_ := set . "extra" (include "common.serverPorts" .) }}
{{- end }}
{{- $pod := include "common.podTemplate" . | fromYaml }}
{{- $replicas := dict "minReplicas" ($autoscaling.minReplicas | int) "maxReplicas" ($autoscaling.maxReplicas | int) "autoScaling" (dict "metrics" $metrics) }}
{{- $predictor := merge $replicas (dict "deploymentStrategy" (include "common.strategy" . | fromYaml)) $pod.metadata $pod.spec }}
{{- if $model.format }}
{{- $predictor = include "common.kserve.runtime" (dict "predictor" $predictor "model" $model "image" .image) | fromYaml }}
{{- else -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script .text)) .) }}
---
{{- end }}
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
  annotations:
    {{- /* Newer versions call it Standard, and take this name too. */}}
    serving.kserve.io/deploymentMode: RawDeployment
    serving.kserve.io/autoscalerClass: {{ ternary "hpa" "none" .scales }}
spec:
  predictor:
    {{- toYaml $predictor | nindent 4 }}
{{- include "common.disruptionBudget" . }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.kserve.runtime: a predictor whose container has become the model that a runtime serves: it has no command of ours, and no script.
     Context: predictor, model, image. */}}
{{- define "common.kserve.runtime" -}}
{{- $container := omit (first .predictor.containers) "name" "command" }}
{{- if not .image }}
{{- $container = omit $container "image" "imagePullPolicy" }}
{{- end }}
{{- range $key, $holder := dict "volumeMounts" $container "volumes" .predictor }}
{{- $kept := list }}
{{- range get $holder $key }}
{{- if ne .name "config" }}
{{- $kept = append $kept . }}
{{- end }}
{{- end }}
{{- $_ := set $holder $key $kept }}
{{- end }}
{{- $_ := set $container "modelFormat" (dict "name" .model.format) }}
{{- with .model.format_version }}
{{- $_ := set $container.modelFormat "version" . }}
{{- end }}
{{- range $key, $value := dict "storageUri" .model.storage_uri "runtime" .model.runtime "protocolVersion" .model.protocol }}
{{- if $value }}
{{- $_ := set $container $key $value }}
{{- end }}
{{- end }}
{{- toYaml (set (omit .predictor "containers") "model" $container) }}
{{- end }}
