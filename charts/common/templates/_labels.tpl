{{/* common.selectorLabels: the labels of pods that never change. Context: root; and, optional, appName: the name that an operator wants its pods to have.
     Usage: include "common.selectorLabels" (dict "root" $) | nindent 4 */}}
{{- define "common.selectorLabels" -}}
app.kubernetes.io/name: {{ .appName | default .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* common.labels: the standard labels. Usage: include "common.labels" (dict "root" $ "component" "training") | nindent 4 */}}
{{- define "common.labels" -}}
{{ include "common.selectorLabels" (omit . "appName") }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/part-of: mlops-eks
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* common.podLabels: labels of pods. No version: pods of servers would be replaced by every release of the collection. `app` is what tools of the
     reference system look for. */}}
{{- define "common.podLabels" -}}
{{ include "common.selectorLabels" . }}
app: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role | default .component }}
app.kubernetes.io/part-of: mlops-eks
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* common.workloadLabels: labels of the object that decides the step: the standard ones and the Kueue queue.
     Usage: include "common.workloadLabels" (dict "root" $ "component" "training") | nindent 4 */}}
{{- define "common.workloadLabels" -}}
{{ include "common.labels" . }}
{{- with .root.Values.queue }}
kueue.x-k8s.io/queue-name: {{ . }}
{{- end }}
{{- end }}
