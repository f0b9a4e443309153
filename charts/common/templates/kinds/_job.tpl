{{/* common.job: a Job of one pod. Context: that of common.begin; and, optional, files, as for common.scriptConfigMap. */}}
{{- define "common.job" -}}
{{- include "common.begin" . }}
{{- $_ := include "common.name" (dict "root" .root "name" .name) -}}
{{ include "common.scriptConfigMap" (merge (dict "scripts" (dict .script (include "common.recipeScript" .))) .) }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.workloadLabels" . | nindent 4 }}
spec:
  backoffLimit: {{ .root.Values.backoff_limit | int }}
  podReplacementPolicy: Failed
  {{- with .root.Values.pod_failure_policy.rules }}
  podFailurePolicy:
    rules:
      {{- toYaml . | nindent 6 }}
  {{- end }}
  {{- include "common.limits" . | nindent 2 }}
  template:
    {{- include "common.podTemplate" (merge (dict "command" (list "/bin/bash" (printf "/etc/config/%s" .script)) "restartPolicy" "Never") .) | nindent 4 }}
{{- include "common.networkPolicy" . }}
{{- end }}

{{/* common.limits: how long a job may run, and how long it stays. */}}
{{- define "common.limits" -}}
{{- with .root.Values.active_deadline_seconds }}
activeDeadlineSeconds: {{ . | int }}
{{- end }}
{{- if not (kindIs "invalid" .root.Values.ttl_seconds_after_finished) }}
ttlSecondsAfterFinished: {{ .root.Values.ttl_seconds_after_finished | int }}
{{- end }}
{{- end }}
