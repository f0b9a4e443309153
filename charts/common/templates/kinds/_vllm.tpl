{{/* common.vllm: a server of vLLM: a Deployment, or, on several nodes, a LeaderWorkerSet whose pods all run the same command. Context: that of
     common.begin. */}}
{{- define "common.vllm" -}}
{{- $_ := set . "translation" "common.vllm.translation" }}
{{- include "common.begin" . }}
{{- $values := .root.Values }}
{{- $env := list }}
{{- range $name, $key := dict "HF_TOKEN" "hf_token" "VLLM_API_KEY" "api_key" }}
{{- if get $values $key }}
{{- $env = append $env (dict "name" $name "value" (printf "{{ .Values.%s }}" $key)) }}
{{- end }}
{{- end }}
{{- $_ := set . "env" $env }}
{{- if gt ($values.lws.size | int) 1 }}
{{- $_ := set . "before" (include "common.vllm.nodes" .) }}
{{- include "common.serverContext" . -}}
{{ include "common.groups" . }}
{{- else }}
{{- include "common.serverContext" . -}}
{{ include "common.deployment" . }}
{{- end }}
{{- end }}

{{/* common.vllm.translation: the command that serves `model`, and the size of a group. */}}
{{- define "common.vllm.translation" -}}
{{- $values := .Values }}
{{- if not $values.model }}
{{- fail "model is empty: name a model of Hugging Face, or a directory that is mounted, as /fsx/models/chat" }}
{{- end }}
{{- if not $values.server.ports }}
{{- fail "server.ports is empty: name at least one port, as {name: http, value: 8000}" }}
{{- end }}
{{- $nodes := $values.resources.nnodes | int }}
{{- $tensor := $values.tensor_parallel_size | int }}
{{- $pipeline := $values.pipeline_parallel_size | int }}
{{- $processes := mul $tensor $pipeline | int }}
{{- if mod $processes $nodes }}
{{- fail (printf "tensor_parallel_size x pipeline_parallel_size is %d, which resources.nnodes (%d) does not divide: every node takes as many parts" $processes $nodes) }}
{{- end }}
{{- $each := div $processes $nodes | int }}
{{- $devices := get $values.resources.limits "nvidia.com/gpu" | toString | int }}
{{- if and $devices (gt $each $devices) }}
{{- fail (printf "tensor_parallel_size x pipeline_parallel_size wants %d GPUs of a node, but resources.limits has nvidia.com/gpu: %d; lower them, or ask for more" $each $devices) }}
{{- end }}
{{- $words := list "vllm serve" (printf "\"%s\"" $values.model) "--port" (first $values.server.ports).value "--tensor-parallel-size" $tensor }}
{{- if gt $pipeline 1 }}
{{- $words = concat $words (list "--pipeline-parallel-size" $pipeline) }}
{{- end }}
{{- with $values.served_model_name }}
{{- $words = concat $words (list "--served-model-name" (printf "\"%s\"" .)) }}
{{- end }}
{{- if gt $nodes 1 }}
{{- $words = concat $words (list "--distributed-executor-backend mp --nnodes" $nodes "--node-rank \"$LWS_WORKER_INDEX\" --master-addr \"$LWS_LEADER_ADDRESS\" \"${_step_role[@]}\"") }}
{{- end }}
server:
  command: {{ toJson $words }}
lws:
  size: {{ $nodes }}
{{- end }}

{{/* common.vllm.nodes: shell lines before those of the recipe: which part this node has. The name of a leader is known when it has an address. */}}
{{- define "common.vllm.nodes" -}}
# -- nodes
_step_role=()
if [ "$LWS_WORKER_INDEX" != 0 ]; then
  _step_role=(--headless)
fi
until getent hosts "$LWS_LEADER_ADDRESS" >/dev/null; do
  sleep 1
done
{{- end }}
