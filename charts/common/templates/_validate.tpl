{{/* common.name: a name derived from the release, refused when Kubernetes could not carry it. `longest` is the longest name that will
     be made from it (a pod's, a Service's), for such names may have at most 63 characters.
     Usage: include "common.name" (dict "root" $ "name" (printf "mpijob-%s" .Release.Name) "longest" (printf "mpijob-%s-worker-%d" .Release.Name 3)) */}}
{{- define "common.name" -}}
{{- $longest := .longest | default .name }}
{{- $length := len $longest }}
{{- if gt $length 63 }}
{{- fail (printf "release name %q is too long: the name %q made from it has %d characters, the maximum is 63; shorten the release name by %d" .root.Release.Name $longest $length (sub $length 63)) }}
{{- end }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $longest) }}
{{- fail (printf "release name %q cannot be used: the name %q made from it must begin with a letter and hold only lower-case letters, digits and '-'" .root.Release.Name $longest) }}
{{- end }}
{{- .name }}
{{- end }}

{{/* common.validate: the rules that a schema cannot say. Fails with one line that names the key and the remedy.
     Context: root; work; workKey (its name in the values); image; imageKey; resources (map: path to resources). */}}
{{- define "common.validate" -}}
{{- $values := .root.Values }}
{{- if not .image }}
{{- fail (printf "%s is empty: name the container image" .imageKey) }}
{{- end }}
{{- if not (or .work.command .work.args $values.pre_script $values.inline_script) }}
{{- fail (printf "there is nothing to run: set %s.command or pre_script" .workKey) }}
{{- end }}
{{- $workKey := .workKey }}
{{- range $index, $entry := .work.env }}
{{- if and $entry.value $entry.valueFrom }}
{{- fail (printf "%s.env[%d] (%s) has both value and valueFrom: keep one" $workKey $index $entry.name) }}
{{- end }}
{{- end }}
{{- range $path, $resources := .resources }}
{{- $limits := $resources.limits | default dict }}
{{- range $name, $amount := $resources.requests }}
{{- if and (contains "/" $name) (ne (toString $amount) (get $limits $name | toString)) }}
{{- fail (printf "%s.requests has %s: %v but %s.limits has %v: Kubernetes wants the two equal" $path $name $amount $path (get $limits $name | default "none")) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
