{{/* A value may be a reference to a key of a Kubernetes Secret instead of text: `hf_token: {secretKeyRef: {name: hf, key: token}}`. The engine puts
     one in the place of every secret it is given. Templates insert such a value as they insert text; what they render is then not the secret,
     which no chart can read, but `$(MLOPS_SECRET_HF_TOKEN)`, which Kubernetes replaces in the environment of a container. */}}

{{/* common.secretRefs: the values that are references, as YAML: dotted key to reference. Usage: include "common.secretRefs" $ | fromYaml */}}
{{- define "common.secretRefs" -}}
{{- $found := dict }}
{{- include "common.walkSecretRefs" (dict "node" .Values "path" "" "found" $found "mark" "") }}
{{- toYaml $found }}
{{- end }}

{{/* common.walkSecretRefs: fills `found` with the references below `node`; with a `mark`, replaces each by common.secretMark. */}}
{{- define "common.walkSecretRefs" -}}
{{- $context := . }}
{{- range $key, $value := .node }}
{{- if kindIs "map" $value }}
{{- $path := ternary $key (printf "%s.%s" $context.path $key) (empty $context.path) }}
{{- if not (and (eq (len $value) 1) (kindIs "map" (get $value "secretKeyRef"))) }}
{{- include "common.walkSecretRefs" (merge (dict "node" $value "path" $path) (omit $context "node" "path")) }}
{{- else }}
{{- $_ := set $context.found $path $value }}
{{- if $context.mark }}
{{- $_ := set $context.node $key (include "common.secretMark" (dict "key" $path "mark" $context.mark)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* common.secretMark: text that stands for a secret while a template is evaluated. Whatever a function does to text shows in it. */}}
{{- define "common.secretMark" -}}
{{ .mark }}<{{ .key }} "'\
Aa>{{ .mark }}
{{- end }}

{{/* common.secretVariable: the variable that Kubernetes takes a secret from. Usage: include "common.secretVariable" "auth.password" */}}
{{- define "common.secretVariable" -}}
MLOPS_SECRET_{{ regexReplaceAll "[^A-Za-z0-9]" . "_" | upper }}
{{- end }}

{{/* common.evaluate: a template of the recipe, evaluated. A reference that it inserts becomes `$(VARIABLE)`; one that it changes, as `b64enc` would,
     is refused, because the text of the secret is not there to be changed: with two different marks in its place the results differ.
     Context: root; text; where (who asks, for the message); and, optional: remedy (refuse every reference, and say this).
     Usage: include "common.evaluate" (dict "root" $ "text" .value "where" "train.env HF_TOKEN") */}}
{{- define "common.evaluate" -}}
{{- $context := . }}
{{- $refs := include "common.secretRefs" .root | fromYaml }}
{{- if not $refs }}
{{- tpl .text .root }}
{{- else }}
{{- $results := list }}
{{- range $mark := list "a" "bb" }}
{{- $values := deepCopy $context.root.Values }}
{{- include "common.walkSecretRefs" (dict "node" $values "path" "" "found" dict "mark" $mark) }}
{{- $root := dict }}
{{- range $name, $value := $context.root }}
{{- $_ := set $root $name $value }}
{{- end }}
{{- $result := tpl $context.text (set $root "Values" $values) }}
{{- range $key, $_ := $refs }}
{{- $variable := printf "$(%s)" (include "common.secretVariable" $key) }}
{{- $replaced := replace (include "common.secretMark" (dict "key" $key "mark" $mark)) $variable $result }}
{{- if and $context.remedy (ne $replaced $result) }}
{{- fail (printf "%s inserts %s, which is kept in a Secret: %s" $context.where $key $context.remedy) }}
{{- end }}
{{- $result = $replaced }}
{{- end }}
{{- $results = append $results $result }}
{{- end }}
{{- if ne (first $results) (last $results) }}
{{- fail (printf "%s changes a value that is kept in a Secret (%s): insert it as it is, and change it in the script" .where (keys $refs | sortAlpha | join ", ")) }}
{{- end }}
{{- first $results }}
{{- end }}
{{- end }}

{{/* common.secretSource: where a container finds a value that is text in the Secret of common.secret, or a reference of its own; JSON, {} for none.
     Usage: include "common.secretSource" (dict "value" .Values.token "name" "notebook-demo" "key" "token") | fromJson */}}
{{- define "common.secretSource" -}}
{{- if kindIs "map" .value }}
{{- toJson .value }}
{{- else }}
{{- toJson (ternary (dict "secretKeyRef" (dict "name" .name "key" .key)) dict (not (empty .value))) }}
{{- end }}
{{- end }}

{{/* common.secret: the values that are text and that nobody may read, as a Secret: no pod's spec holds them.
     Context: that of common.begin; secrets (keys of the Secret, and the dotted keys of the values). */}}
{{- define "common.secret" }}
{{- $data := dict }}
{{- range $key, $path := .secrets }}
{{- $value := $.root.Values }}
{{- range splitList "." $path }}
{{- $value = get $value . }}
{{- end }}
{{- if and $value (kindIs "string" $value) }}
{{- $_ := set $data $key (b64enc $value) }}
{{- end }}
{{- end }}
{{- with $data }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ $.name }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
type: Opaque
data:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
