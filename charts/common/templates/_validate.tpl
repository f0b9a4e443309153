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
     Context: that of common.begin. */}}
{{- define "common.validate" -}}
{{- $values := .root.Values }}
{{- if and (hasKey . "script") (not (or .commandText .program.command .program.args $values.pre_script $values.inline_script)) }}
{{- fail (printf "there is nothing to run: set %s.command or pre_script" .work) }}
{{- end }}
{{- range $group, $env := dict "mpirun" ($values.mpirun | default dict).env .work .program.env }}
{{- range $index, $entry := $env }}
{{- if and $entry.value $entry.valueFrom }}
{{- fail (printf "%s.env[%d] (%s) has both value and valueFrom: keep one" $group $index $entry.name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* common.validateResources: wherever the values hold `resources`, in a role's block for one, what is asked for of a device is also its limit, and
     no more processes are started than accelerators are asked for, one for each. Neuron devices have several cores: how many, the engine knows. */}}
{{- define "common.validateResources" -}}
{{- $path := .path }}
{{- range $key, $value := .node }}
{{- if kindIs "map" $value }}
{{- $here := printf "%s.%s" $path $key | trimPrefix "." }}
{{- if eq $key "resources" }}
{{- range $name, $amount := $value.requests }}
{{- $limit := get ($value.limits | default dict) $name | toString }}
{{- if and (contains "/" $name) (ne (toString $amount) $limit) }}
{{- fail (printf "%s.requests has %s: %v but %s.limits has %v: Kubernetes wants the two equal" $here $name $amount $here ($limit | default "none")) }}
{{- end }}
{{- end }}
{{- range $name := list "nvidia.com/gpu" "aws.amazon.com/neuroncore" }}
{{- $devices := get ($value.limits | default dict) $name | toString | int }}
{{- range $processes := list "nproc_per_node" "gpus_per_node" }}
{{- $wanted := get $value $processes | toString | int }}
{{- if and $devices (gt $wanted $devices) }}
{{- fail (printf "%s.%s is %d, but %s.limits has %s: %d; lower it, or ask for more" $here $processes $wanted $here $name $devices) }}
{{- end }}
{{- end }}
{{- end }}
{{- else }}
{{- include "common.validateResources" (dict "node" $value "path" $here) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
