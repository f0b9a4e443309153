{{/* common.volumes: the script, shared memory, the claims of `pvc` in order (pv-1, pv-2 …) and, where asked, an EBS scratch volume
     that lives as long as its pod. Usage: include "common.volumes" (dict "root" $ "script" "train-script-x" "ebs" .Values.ebs) */}}
{{- define "common.volumes" -}}
- name: config
  configMap:
    name: {{ .script }}
    defaultMode: 365
- name: shm
  emptyDir:
    medium: Memory
    {{- with .root.Values.shm.size }}
    sizeLimit: {{ . }}
    {{- end }}
{{- range $index, $claim := .root.Values.pvc }}
- name: pv-{{ add1 $index }}
  persistentVolumeClaim:
    claimName: {{ $claim.name }}
{{- end }}
{{- if .ebs }}
- name: ebs
  ephemeral:
    volumeClaimTemplate:
      metadata:
        labels:
          {{- include "common.selectorLabels" . | nindent 10 }}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ .ebs.storage_class | default "ebs-sc-wait" }}
        resources:
          requests:
            storage: {{ .ebs.storage | default "100Gi" }}
{{- end }}
{{- end }}

{{/* common.volumeMounts: where the volumes of common.volumes appear. Same context. */}}
{{- define "common.volumeMounts" -}}
- name: config
  mountPath: /etc/config
- name: shm
  mountPath: /dev/shm
{{- range $index, $claim := .root.Values.pvc }}
- name: pv-{{ add1 $index }}
  mountPath: {{ $claim.mount_path }}
{{- end }}
{{- if .ebs }}
- name: ebs
  mountPath: {{ .ebs.mount_path | default "/tmp" }}
{{- end }}
{{- end }}
