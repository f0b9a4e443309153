{{/* common.accelerators: what a resource name in a container's resources brings with it.
     taint: the key that nodes with this resource are tainted with, tolerated when the recipe names no toleration of that key.
     env:   variables the resource needs, each set only when the recipe does not set it.
     One row per resource name. */}}
{{- define "common.accelerators" -}}
nvidia.com/gpu: {taint: nvidia.com/gpu}
aws.amazon.com/neuron: {taint: aws.amazon.com/neuron}
aws.amazon.com/neuroncore: {taint: aws.amazon.com/neuron}
aws.amazon.com/neurondevice: {taint: aws.amazon.com/neuron}
vpc.amazonaws.com/efa: {env: {FI_PROVIDER: efa, FI_EFA_FORK_SAFE: "1"}}
{{- end }}

{{/* common.requested: the rows of common.accelerators that `.resources` (requests, limits) asks for, as YAML.
     Usage: include "common.requested" (dict "resources" .Values.resources) | fromYaml */}}
{{- define "common.requested" -}}
{{- $wanted := merge (dict) (.resources.limits | default dict) (.resources.requests | default dict) }}
{{- $rows := dict }}
{{- range $name, $row := include "common.accelerators" . | fromYaml }}
{{- if get $wanted $name }}
{{- $_ := set $rows $name $row }}
{{- end }}
{{- end }}
{{- toYaml $rows }}
{{- end }}

{{/* common.resources: requests and limits of one container. A container that names no CPU or memory gets a small request, so
     that no pod is the first to be evicted and autoscalers can compute utilisation.
     Usage: include "common.resources" (dict "resources" .Values.resources) | nindent 8 */}}
{{- define "common.resources" -}}
{{- $limits := .resources.limits | default dict }}
{{- $requests := deepCopy (.resources.requests | default dict) }}
{{- range $name, $small := dict "cpu" "500m" "memory" "512Mi" }}
{{- if not (or (hasKey $requests $name) (hasKey $limits $name)) }}
{{- $_ := set $requests $name $small }}
{{- end }}
{{- end }}
{{- $resources := dict }}
{{- with $requests }}
{{- $_ := set $resources "requests" . }}
{{- end }}
{{- with $limits }}
{{- $_ := set $resources "limits" . }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{/* common.tolerations: the recipe's tolerations (key and value may hold templates) and those of the accelerators asked for.
     Usage: include "common.tolerations" (dict "root" $ "tolerations" .Values.tolerations "resources" .Values.resources) */}}
{{- define "common.tolerations" -}}
{{- $root := .root }}
{{- $keys := list }}
{{- range .tolerations }}
{{- $how := dict "root" $root "where" "a toleration" "remedy" "write it out" }}
{{- $key := include "common.evaluate" (merge (dict "text" (.key | default "")) $how) }}
{{- $keys = append $keys $key }}
- {{ with $key }}key: {{ . | quote }}
  {{ end }}operator: {{ .operator | default "Equal" }}
  {{- if .value }}
  value: {{ include "common.evaluate" (merge (dict "text" .value) $how) | quote }}
  {{- end }}
  {{- with .effect }}
  effect: {{ . }}
  {{- end }}
  {{- if hasKey . "toleration_seconds" }}
  tolerationSeconds: {{ .toleration_seconds | int }}
  {{- end }}
{{- end }}
{{- range include "common.requested" . | fromYaml }}
{{- if and .taint (not (has .taint $keys)) }}
{{- $keys = append $keys .taint }}
- key: {{ .taint }}
  operator: Exists
  effect: NoSchedule
{{- end }}
{{- end }}
{{- end }}
