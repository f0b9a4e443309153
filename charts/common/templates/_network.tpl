{{/* common.networkPolicy: with `network_policy: true`, the pods of a release talk to each other, to DNS and to `network_egress` only.
     Context: that of common.begin; and, optional, ports: numbers of ports that everybody may reach; ingress: further rules. */}}
{{- define "common.networkPolicy" }}
{{- if .root.Values.network_policy }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "common.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchLabels:
              {{- include "common.selectorLabels" . | nindent 14 }}
    {{- with .ports }}
    - ports:
        {{- range . }}
        - port: {{ . | int }}
        {{- end }}
    {{- end }}
    {{- with .ingress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  egress:
    - to:
        - podSelector:
            matchLabels:
              {{- include "common.selectorLabels" . | nindent 14 }}
    - ports:
        - {port: 53, protocol: UDP}
        - {port: 53, protocol: TCP}
    {{- with .root.Values.network_egress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
