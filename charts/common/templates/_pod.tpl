{{/* common.podTemplate: metadata and spec of a pod that runs the generated script.
     Context, all keys: root; component (label); container (its name); command (list); work (map with env and envFrom);
     resources (requests, limits, node_type); tolerations (list); ebs (map); script (ConfigMap name); image (reference);
     pullPolicy; and, optional: restartPolicy, gracePeriod (seconds), annotations (map), extra (YAML text added to the container: ports, probes).
     Usage: include "common.podTemplate" (dict …) | nindent 4 */}}
{{- define "common.podTemplate" -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "common.labels" . | nindent 4 }}
  annotations:
    karpenter.sh/do-not-disrupt: "true"
    sidecar.istio.io/inject: "false"
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
  {{- with .resources.node_type }}
  nodeSelector:
    node.kubernetes.io/instance-type: {{ . }}
  {{- end }}
  {{- with include "common.tolerations" . | trim }}
  tolerations:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .container }}
      image: {{ .image | quote }}
      imagePullPolicy: {{ .pullPolicy }}
      command:
        {{- toYaml .command | nindent 8 }}
      {{- with include "common.env" . | trim }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with .work.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .extra }}
      {{- . | nindent 6 }}
      {{- end }}
      lifecycle:
        preStop:
          exec:
            command: [/bin/bash, /etc/config/stop.sh]
      resources:
        {{- include "common.resources" . | nindent 8 }}
      {{- with $values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        {{- include "common.volumeMounts" . | nindent 8 }}
  volumes:
    {{- include "common.volumes" . | nindent 4 }}
{{- end }}
