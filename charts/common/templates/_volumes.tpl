{{/* common.volumes: the script, shared memory, the claims of `pvc` in order (pv-1, pv-2 …) and, where asked, an EBS scratch volume
     that lives as long as its pod. Context: that of common.podTemplate */}}
{{- define "common.volumes" -}}
- name: config
  configMap:
    name: {{ .configMap }}
    defaultMode: 365
- name: shm
  emptyDir:
    medium: Memory
    {{- with .values.shm.size }}
    sizeLimit: {{ . }}
    {{- end }}
{{- range $index, $claim := include "common.claims" . | fromYamlArray }}
- name: pv-{{ add1 $index }}
  persistentVolumeClaim:
    claimName: {{ $claim.name }}
{{- end }}
{{- with .values.volumes }}
{{ toYaml . }}
{{- end }}
{{- if .values.ebs }}
- name: ebs
  ephemeral:
    volumeClaimTemplate:
      metadata:
        labels:
          {{- include "common.selectorLabels" . | nindent 10 }}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ .values.ebs.storage_class | default "ebs-sc-wait" }}
        resources:
          requests:
            storage: {{ .values.ebs.storage | default "100Gi" }}
{{- end }}
{{- end }}

{{/* common.volumeMounts: where the volumes of common.volumes appear. Same context. */}}
{{- define "common.volumeMounts" -}}
- name: config
  mountPath: /etc/config
- name: shm
  mountPath: /dev/shm
{{- range $index, $claim := include "common.claims" . | fromYamlArray }}
- name: pv-{{ add1 $index }}
  mountPath: {{ $claim.mount_path }}
{{- end }}
{{- with .values.volume_mounts }}
{{ toYaml . }}
{{- end }}
{{- if .values.ebs }}
- name: ebs
  mountPath: {{ .values.ebs.mount_path | default "/tmp" }}
{{- end }}
{{- end }}

{{/* common.claims: `pvc` as a list; a chart that has one claim has it as a map. Same context. */}}
{{- define "common.claims" -}}
{{- toYaml (ternary (list .values.pvc) .values.pvc (kindIs "map" .values.pvc)) }}
{{- end }}

{{/* common.sharedClaims: `pvc` with the claim of `global.shared_pvc` at /<global.shared_fs> before it, unless it names one for that path; JSON.
     Usage: include "common.sharedClaims" .Values */}}
{{- define "common.sharedClaims" -}}
{{- $path := printf "/%s" .global.shared_fs }}
{{- $paths := list }}
{{- range .pvc }}
{{- $paths = append $paths .mount_path }}
{{- end }}
{{- toJson (ternary .pvc (prepend .pvc (dict "name" .global.shared_pvc "mount_path" $path)) (has $path $paths)) }}
{{- end }}
