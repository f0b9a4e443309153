{{/* common.podTemplate: metadata and spec of a pod.
     Context: that of common.begin, and of the role:
       role         optional: app.kubernetes.io/component of the pod where it differs from the workload's
       values       optional: the values that the pod takes, where they differ from the chart's: see common.role
       command      list; empty where an operator gives it
       restartPolicy, gracePeriod (seconds), annotations (map), env (entries of the chart), extra (YAML text added to the container: ports, probes),
       preStop      (what runs before the pod ends, in the place of stop.sh): optional
     Usage: include "common.podTemplate" (merge (dict "command" (list …)) $context) | nindent 4 */}}
{{- define "common.podTemplate" -}}
{{- $values := .values | default .root.Values }}
{{- $pod := include "common.podText" . | fromYaml }}
{{- if $pod.Error }}
{{- fail (printf "the pod of %s cannot be rendered: %s" (.role | default .component) $pod.Error) }}
{{- end }}
{{- include "common.overlay" (dict "below" $pod.spec "above" $values.pod) }}
{{- include "common.overlay" (dict "below" (first $pod.spec.containers) "above" $values.container) }}
{{- toYaml $pod }}
{{- end }}

{{/* common.role: the context of one role of a workload (launcher, worker, head, leader): the chart's values under the role's own. A role that does not
     `inherit` takes nothing of what says where the other pods run, what they get and what runs beside them.
     Usage: include "common.role" (dict "context" $context "own" .Values.launcher "inherit" false)
     Changes `context`, which the caller makes for the role: its `values`. */}}
{{- define "common.role" -}}
{{- $values := deepCopy .context.root.Values }}
{{- if not .inherit }}
{{- range $key, $nothing := dict "resources" dict "tolerations" list "affinity" dict "node_selector" dict "topology_spread_constraints" list "scheduler_name" "" "ebs" dict "init_containers" list "sidecars" list }}
{{- $_ := set $values $key $nothing }}
{{- end }}
{{- end }}
{{- include "common.overlay" (dict "below" $values "above" .own) }}
{{- $_ := set .context "values" $values }}
{{- end }}

{{- define "common.podText" -}}
{{- $values := .values | default .root.Values -}}
{{- $pod := merge (dict "resources" $values.resources "tolerations" $values.tolerations "values" $values) . -}}
metadata:
  labels:
    {{- include "common.podLabels" . | nindent 4 }}
  annotations:
    karpenter.sh/do-not-disrupt: "true"
    sidecar.istio.io/inject: "false"
    app.kubernetes.io/instance: {{ .root.Release.Name }}
    app.kubernetes.io/managed-by: {{ .root.Release.Service }}
    {{- with .annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  {{- $grace := ternary .gracePeriod $values.termination_grace_period_seconds (kindIs "invalid" $values.termination_grace_period_seconds) }}
  {{- if not (kindIs "invalid" $grace) }}
  terminationGracePeriodSeconds: {{ $grace | int }}
  {{- end }}
  {{- with $values.scheduler_name }}
  schedulerName: {{ . }}
  {{- end }}
  {{- if $values.service_account_name }}
  serviceAccountName: {{ $values.service_account_name }}
  {{- else }}
  automountServiceAccountToken: false
  {{- end }}
  {{- /* Variables for every Service of the namespace would collide with what trainers read, MASTER_PORT for one. */}}
  enableServiceLinks: false
  {{- with $values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priority_class_name }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.image_pull_secrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with include "common.nodeSelector" $values | trim }}
  nodeSelector:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with include "common.tolerations" $pod | trim }}
  tolerations:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with include "common.affinity" $values | fromYaml }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.topology_spread_constraints }}
  topologySpreadConstraints:
    {{- $labels := include "common.selectorLabels" $pod | fromYaml }}
    {{- range . }}
    - {{ toYaml (ternary . (merge (dict "labelSelector" (dict "matchLabels" $labels)) .) (hasKey . "labelSelector")) | nindent 6 | trim }}
    {{- end }}
  {{- end }}
  {{- with include "common.initContainers" $pod | trim }}
  initContainers:
    {{- . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .container }}
      image: {{ .image | quote }}
      imagePullPolicy: {{ .pullPolicy }}
      {{- with .command }}
      command:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with include "common.env" $pod | trim }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with .program.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .extra }}
      {{- . | nindent 6 }}
      {{- end }}
      lifecycle:
        preStop:
          {{- toYaml (.preStop | default (dict "exec" (dict "command" (list "/bin/bash" "/etc/config/stop.sh")))) | nindent 10 }}
      resources:
        {{- include "common.resources" $pod | nindent 8 }}
      {{- with $values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        {{- include "common.volumeMounts" $pod | nindent 8 }}
  volumes:
    {{- include "common.volumes" $pod | nindent 4 }}
{{- end }}

{{/* common.initContainers: `init_containers`, and `sidecars`, which run beside the container and end with it. One that names no image takes the
     program's; one that names no mounts takes the container's. */}}
{{- define "common.initContainers" -}}
{{- $standard := dict "image" .image "imagePullPolicy" .pullPolicy "volumeMounts" (include "common.volumeMounts" . | fromYamlArray) }}
{{- range $role, $containers := dict "init" .values.init_containers "sidecar" .values.sidecars }}
{{- range $containers }}
{{- $container := deepCopy $standard }}
{{- if eq $role "sidecar" }}
{{- $_ := set $container "restartPolicy" "Always" }}
{{- end }}
{{- range $key, $value := . }}
{{- $_ := set $container $key $value }}
{{- end }}
- {{ toYaml $container | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end }}

{{/* common.nodeSelector: labels of the nodes. Several instance types are a matter of affinity. Context: the values of the pod. */}}
{{- define "common.nodeSelector" -}}
{{- $labels := deepCopy (.node_selector | default dict) }}
{{- if and .resources.node_type (kindIs "string" .resources.node_type) }}
{{- $_ := set $labels "node.kubernetes.io/instance-type" .resources.node_type }}
{{- end }}
{{- with $labels }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* common.affinity: the recipe's affinity; a list of instance types is required by every term of it. Context: the values of the pod. */}}
{{- define "common.affinity" -}}
{{- $affinity := deepCopy (.affinity | default dict) }}
{{- if and .resources.node_type (kindIs "slice" .resources.node_type) }}
{{- $types := dict "key" "node.kubernetes.io/instance-type" "operator" "In" "values" .resources.node_type }}
{{- $required := dig "nodeAffinity" "requiredDuringSchedulingIgnoredDuringExecution" dict $affinity }}
{{- $terms := list }}
{{- range ($required.nodeSelectorTerms | default (list dict)) }}
{{- $terms = append $terms (merge (dict "matchExpressions" (append (.matchExpressions | default list) $types)) .) }}
{{- end }}
{{- $node := merge (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms)) ($affinity.nodeAffinity | default dict) }}
{{- $_ := set $affinity "nodeAffinity" $node }}
{{- end }}
{{- toYaml $affinity }}
{{- end }}
