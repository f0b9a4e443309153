{{/* pytorchjob-distributed.name: the PyTorchJob; its pods and their Services are named after it.
     Usage: include "pytorchjob-distributed.name" . */}}
{{- define "pytorchjob-distributed.name" -}}
{{- $name := printf "pytorchjob-%s" .Release.Name }}
{{- $workers := sub (.Values.resources.nnodes | int) 1 }}
{{- $longest := ternary (printf "%s-worker-%d" $name (sub $workers 1)) (printf "%s-master-0" $name) (gt $workers 0) }}
{{- include "common.name" (dict "root" . "name" $name "longest" $longest) }}
{{- end }}

{{/* pytorchjob-distributed.replica: the spec of one replica type. A pod that fails is started again only when retries are asked for;
     otherwise its failure is the job's. Usage: include "pytorchjob-distributed.replica" (dict "root" $ "role" "master" "replicas" 1) */}}
{{- define "pytorchjob-distributed.replica" -}}
{{- $values := .root.Values -}}
replicas: {{ .replicas }}
restartPolicy: {{ ternary "OnFailure" "Never" (gt ($values.backoff_limit | int) 0) }}
template:
  {{- include "common.podTemplate" (dict
      "root" .root
      "component" .role
      "container" "pytorch"
      "command" (list "/bin/bash" "/etc/config/train-script.sh")
      "work" $values.train
      "resources" $values.resources
      "tolerations" $values.tolerations
      "ebs" $values.ebs
      "script" (printf "train-script-%s" .root.Release.Name)
      "image" (include "common.image" (dict "name" $values.image "digest" $values.image_digest))
      "pullPolicy" $values.image_pull_policy
    ) | nindent 2 }}
{{- end }}
