{{/* common.maskrcnn: an MPIJob that trains Mask R-CNN by a program with tensorpack's arguments, made of the keys of `maskrcnn`.
     Context: root. */}}
{{- define "common.maskrcnn" -}}
{{- include "common.mpijob" (merge . (dict "prefix" "{{ .Values.maskrcnn.name }}" "component" "training" "work" "maskrcnn" "script" "train-script.sh"
      "done" "Training" "translation" "common.maskrcnn.translation")) }}
{{- end }}

{{/* common.maskrcnn.settings: what the program takes after --config, and the keys that say it; a chart has some of them. */}}
{{- define "common.maskrcnn.settings" -}}
- {name: MODE_MASK, key: mode_mask}
- {name: MODE_FPN, key: mode_fpn}
- {name: DATA.BASEDIR, key: data_dir, file: true}
- {name: DATA.TRAIN, key: data_train}
- {name: DATA.VAL, key: data_val}
- {name: TRAIN.BATCH_SIZE_PER_GPU, key: batch_size_per_gpu}
- {name: TRAIN.EVAL_PERIOD, key: eval_period_in_epochs}
- {name: TRAIN.STEPS_PER_EPOCH, key: steps_per_epoch}
- {name: TRAIN.LR_SCHEDULE, key: lr_schedule}
- {name: TRAIN.LR_EPOCH_SCHEDULE, key: lr_epoch_schedule}
- {name: TRAIN.BASE_LR, key: base_lr}
- {name: BACKBONE.WEIGHTS, key: backbone_weights, file: true}
- {name: BACKBONE.NORM, key: backbone_norm}
- {name: PREPROC.PREDEFINED_PADDING, key: predefined_padding}
{{- end }}

{{/* common.maskrcnn.translation: the values of `global` and `maskrcnn` as shared ones. The launcher names the directory of the logs, once. */}}
{{- define "common.maskrcnn.translation" -}}
{{- $given := .Values.maskrcnn }}
{{- $words := list (include "common.shellQuote" $given.train_script) "--logdir" `"$LOG_DIR/train_log/maskrcnn"` }}
{{- with $given.images_per_epoch }}
{{- $words = append $words (printf "--images_per_epoch %s" (include "common.words" (list .))) }}
{{- end }}
{{- $words = append $words "--config" }}
{{- range include "common.maskrcnn.settings" . | fromYamlArray }}
{{- $value := get $given .key }}
{{- if not (or (kindIs "invalid" $value) (eq (toString $value) "")) }}
{{- $text := ternary (toString $value | title) (include "common.words" (list $value)) (kindIs "bool" $value) }}
{{- $words = append $words (printf "%s=%s%s" .name (ternary (printf "/%s/" $given.data_fs) "" (hasKey . "file")) $text | include "common.shellQuote") }}
{{- end }}
{{- end }}
{{- range compact (list "TRAINER=horovod" $given.extra_config) }}
{{- $words = append $words (include "common.shellQuote" .) }}
{{- end }}
{{- $count := list }}
{{- with $given.gpus }}
{{- if gt (. | int) (mul $given.gpu_nodes $given.gpus_per_node | int) }}
{{- fail (printf "maskrcnn.gpus is %d, but gpu_nodes x gpus_per_node is %d: lower it, or ask for more" (. | int) (mul $given.gpu_nodes $given.gpus_per_node)) }}
{{- end }}
{{- $count = list "-np" . }}
{{- end }}
{{- $directory := printf "LOG_DIR=\"/%s/logs/%s-$(date +%%Y-%%m-%%d-%%H-%%M-%%S)\"" .Values.global.shared_fs .Release.Name }}
{{- $first := list }}
{{- with $given.working_dir }}
{{- $first = list (printf "cd %s" (include "common.shellQuote" .)) }}
{{- end -}}
{{ include "common.mpi.gpuWorkers" (dict "values" .Values "group" "maskrcnn") }}
image: {{ $given.image | toJson }}
image_pull_policy: {{ $given.image_pull_policy }}
backoff_limit: {{ $given.backoff_limit | toJson }}
pvc: {{ include "common.sharedClaims" .Values }}
launcher: {pre_script: {{ concat (list $directory "export LOG_DIR") .Values.launcher.pre_script | toJson }}}
mpirun: {args: {{ concat $count .Values.mpirun.args (list "-x LOG_DIR") | toJson }}}
pre_script: {{ concat $first .Values.pre_script | toJson }}
maskrcnn: {command: [python3], args: {{ $words | toJson }}}
{{- end }}
