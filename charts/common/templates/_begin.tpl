{{/* common.begin: how every kind begins. Fills blank values, checks what the schema cannot say, and adds to the context what all pods share.

     Context, given by the chart's one `include`:
       root       $
       prefix     begins the workload's name, `<prefix>-<release>`; may be a template; empty for the release alone
       component  app.kubernetes.io/component of all objects
       work       the key of the program: train, process, server; or of a list, the environment of a program that is the chart's own
       container  name of the container
       config     begins the name of the ConfigMap, `<config>-<release>`; the workload's name when not given
       script     file name of the generated script
       done       optional: what the script prints after the command
       commandText  optional: shell text in the place of the program's command and args
       translation  optional: name of a template that says, as YAML, what the chart's own keys mean in the shared ones; laid over the values
     Added: name, configMap, program, image, pullPolicy. */}}
{{- define "common.begin" -}}
{{- $values := .root.Values }}
{{- include "common.fill" (dict "values" $values "defaults" (.root.Files.Get "defaults.json" | fromJson)) }}
{{- $_ := set $values.run "name" ($values.run.name | default .root.Release.Name) }}
{{- include "common.validateResources" (dict "node" $values "path" "") }}
{{- with .translation }}
{{- $shared := include . $.root | fromYaml }}
{{- if $shared.Error }}
{{- fail (printf "the keys of this chart cannot be read: %s" $shared.Error) }}
{{- end }}
{{- include "common.overlay" (dict "below" $values "above" $shared) }}
{{- end }}
{{- $prefix := tpl (.prefix | default "") .root }}
{{- $_ := set . "name" (printf "%s-%s" $prefix .root.Release.Name | trimPrefix "-") }}
{{- $_ := set . "configMap" (printf "%s-%s" (.config | default $prefix) .root.Release.Name) }}
{{- $program := get $values .work }}
{{- $_ := set . "program" (ternary (dict "env" $program) $program (kindIs "slice" $program)) }}
{{- if kindIs "map" $values.image }}
{{- $_ := set . "image" (include "common.image" $values.image) }}
{{- $_ := set . "pullPolicy" $values.image.pull_policy }}
{{- else }}
{{- $_ := set . "image" (include "common.image" (dict "name" $values.image "digest" $values.image_digest)) }}
{{- $_ := set . "pullPolicy" $values.image_pull_policy }}
{{- end }}
{{- include "common.validate" . }}
{{- end }}

{{/* common.fill: puts what stands in for it in the place of every value that a recipe leaves blank; Helm takes a blank key away with all that is
     below it. A group that is blank as a whole has all its defaults; a single list in it that is blank is empty.
     Context: values; defaults (of defaults.json); and, optional, whole: the group is blank. */}}
{{- define "common.fill" -}}
{{- $values := .values }}
{{- $whole := .whole }}
{{- range $key, $stand := .defaults }}
{{- $blank := kindIs "invalid" (index $values $key) }}
{{- if hasKey $stand "keys" }}
{{- if $blank }}
{{- $_ := set $values $key dict }}
{{- end }}
{{- include "common.fill" (dict "values" (index $values $key) "defaults" $stand.keys "whole" (or $blank $whole)) }}
{{- else if $blank }}
{{- $_ := set $values $key (ternary $stand.blank $stand.default (and (hasKey $stand "blank") (not $whole))) }}
{{- end }}
{{- end }}
{{- end }}

{{/* common.overlay: lays `above` over `below`, which it changes: maps key by key, other values as a whole. What is empty above leaves what is below.
     Usage: include "common.overlay" (dict "below" $pod "above" .Values.pod) */}}
{{- define "common.overlay" -}}
{{- $below := .below }}
{{- range $key, $value := .above }}
{{- if and (kindIs "map" $value) (kindIs "map" (get $below $key)) }}
{{- include "common.overlay" (dict "below" (get $below $key) "above" $value) }}
{{- else if not (or (kindIs "invalid" $value) (eq (toString $value) "") (eq (toString $value) "[]") (eq (toString $value) "map[]")) }}
{{- $_ := set $below $key $value }}
{{- end }}
{{- end }}
{{- end }}
