{{/* common.lws: a LeaderWorkerSet: groups of pods, of each of which the leader serves and the workers compute with it; the Service to the leaders and, where
     asked, autoscaler and disruption budget of groups.
     Context: that of common.begin, with `lws.size` in the values; and, optional: workerCommand (list; what a worker runs in the place of the script),
     exec (the leader starts what runs in its workers, by `kubectl exec`). */}}
{{- define "common.lws" -}}
{{- include "common.serverBegin" . -}}
{{ include "common.groups" . }}
{{- end }}

{{/* common.groups: the objects of common.lws. Context: that of common.serverBegin and common.lws. */}}
{{- define "common.groups" -}}
{{- $server := .program }}
{{- $size := .root.Values.lws.size | int }}
{{- /* An upgrade has one group more. Its StatefulSet of workers has the leader's name, and its pods a label of that name and a hash. */}}
{{- $groups := add1 $server.autoscaling.maxReplicas | int }}
{{- $longest := printf "%s-%d-%s" .name (sub $groups 1) "0123456789" }}
{{- $_ := include "common.name" (dict "root" .root "name" .name "longest" $longest) }}
{{- $_ := set . "beforeStop" (include "common.lws.beforeStop" .) }}
{{- /* One pod that goes takes its group along: groups are counted in pods. */}}
{{- $budget := dict }}
{{- range $key, $amount := .budget }}
{{- if or (kindIs "string" $amount) (eq ($amount | int) 0) }}
{{- $_ := set $budget $key $amount }}
{{- else if eq $key "min_available" }}
{{- $_ := set $budget $key (sub (mul $size (add1 $amount)) 1) }}
{{- else }}
{{- $_ := set $budget $key (add1 (mul $size (sub $amount 1))) }}
{{- end }}
{{- end }}
{{- $_ := set . "budget" $budget }}
{{- $leader := merge (dict "role" "leader" "extra" (include "common.serverPorts" .)) . }}
{{- $worker := merge (dict "role" "worker" "command" (.workerCommand | default .command)) . }}
{{- if .exec }}
{{- $key := dict "fieldRef" (dict "fieldPath" "metadata.labels['leaderworkerset.sigs.k8s.io/group-key']") }}
{{- $_ := set $leader "env" (list (dict "name" "NAMESPACE" "value" .root.Release.Namespace) (dict "name" "GROUP_KEY" "valueFrom" $key)) }}
{{- if not .root.Values.service_account_name }}
{{- include "common.role" (dict "context" $leader "own" (dict "service_account_name" .name) "inherit" true) }}
{{- include "common.lws.account" (merge (dict "groups" $groups "pods" $size) .) }}
---
{{- end }}
{{- end }}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script .text)) .) }}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  {{- if not .scales }}
  replicas: {{ $server.autoscaling.minReplicas | int }}
  {{- end }}
  {{- /* The operator's Service that gives pods their names is one of each group: a single one would have the name of ours. */}}
  networkConfig:
    subdomainPolicy: UniquePerReplica
  rolloutStrategy:
    type: RollingUpdate
    rollingUpdateConfiguration:
      {{- /* A group goes when another has taken its place; one more at a time, as accelerators are scarce. */}}
      maxUnavailable: {{ ternary 0 "100%" (eq $server.strategy "RollingUpdate") }}
      maxSurge: {{ ternary 1 0 (eq $server.strategy "RollingUpdate") }}
  leaderWorkerTemplate:
    size: {{ $size }}
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      {{- include "common.podTemplate" $leader | nindent 6 }}
    workerTemplate:
      {{- include "common.podTemplate" $worker | nindent 6 }}
{{- $selector := printf "%s\napp.kubernetes.io/component: leader" (include "common.selectorLabels" .) }}
{{- include "common.serverObjects" (merge (dict "apiVersion" "leaderworkerset.x-k8s.io/v1" "kind" "LeaderWorkerSet" "selector" $selector) .) }}
{{- end }}

{{/* common.lws.beforeStop: what a pod of a group waits for before it ends: a leader as the pod of any server, a worker until its leader has stopped
     serving, for it has a part in every answer. A leader that is lost closes no connection: then the grace period ends it. */}}
{{- define "common.lws.beforeStop" -}}
if [ "$LWS_WORKER_INDEX" != 0 ]; then
  while timeout 5 bash -c ": </dev/tcp/$LWS_LEADER_ADDRESS/{{ (first .program.ports).value | int }}" 2>/dev/null; do
    sleep 1
  done
{{- if .drain }}
else
  {{- include "common.drain" . | nindent 2 }}
{{- end }}
fi
{{- end }}

{{/* common.lws.account: the account of the leaders, which may look up the pods of its namespace, and enter those of this release. A user who may make no
     roles names an account. Context: that of common.lws; groups, pods (how many there are at most). */}}
{{- define "common.lws.account" }}
{{- $names := list }}
{{- range $group := until (.groups | int) }}
{{- range $index := until ($.pods | int) }}
{{- $names = append $names (printf "%s-%d%s" $.name $group (ternary (printf "-%d" $index) "" (gt $index 0))) }}
{{- end }}
{{- end }}
{{- $metadata := printf "name: %s\nlabels:%s" .name (include "common.labels" . | nindent 2) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- $metadata | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- $metadata | nindent 2 }}
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [get, list, watch]
  - apiGroups: [""]
    resources: [pods/exec]
    {{- /* To get it is how kubectl asks by WebSocket. */}}
    verbs: [create, get]
    resourceNames: {{ toJson $names }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- $metadata | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .name }}}
subjects:
  - {kind: ServiceAccount, name: {{ .name }}, namespace: {{ .root.Release.Namespace }}}
{{- end }}
