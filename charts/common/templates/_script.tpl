{{/* common.lines: a list of shell lines, each item as it is written in the recipe, one after the other: several items may form
     one construct. Usage: include "common.lines" .Values.pre_script */}}
{{- define "common.lines" -}}
{{- range . }}
{{ . | toString | trimSuffix "\n" }}
{{- end }}
{{- end }}

{{/* common.words: command and args as one shell command, items as they are written in the recipe, joined by a space.
     Usage: include "common.words" (concat .Values.train.command .Values.train.args) */}}
{{- define "common.words" -}}
{{- range $index, $item := . }}
{{- if $index }} {{ end }}
{{- if and (kindIs "float64" $item) (eq $item (floor $item)) }}{{ $item | int64 }}{{ else }}{{ $item | toString | trimSuffix "\n" }}{{ end }}
{{- end }}
{{- end }}

{{/* common.script: the one bash program of a step.
     Context: root; git, inline, pre, command (shell text), post, always (values of the recipe); and, optional: done (what to print after the
     command), before (our own shell lines before the recipe's), after (our own lines between the command and `post`), clone (suffix of the
     clone's directory). `always` runs in a subshell, so that nothing in it can change the exit status. */}}
{{- define "common.script" -}}
#!/bin/bash
# Release {{ .root.Release.Name }}, chart {{ .root.Chart.Name }} {{ .root.Chart.Version }}.
set -Eeo pipefail

_step_report() {
  local line
  mapfile -t -s $(($1 - 1)) -n 1 line <"$0"
  echo "line $1 of $0 failed with exit status $2: ${line:0:300}" >&2
}
trap 'EXIT_STATUS=$?; if [ "$BASH_SUBSHELL" = 0 ]; then _step_report "$LINENO" "$EXIT_STATUS"; fi' ERR

_step_finish() {
  EXIT_STATUS=$?
  trap - EXIT ERR TERM
  set +e
  {{- with .always }}
  export EXIT_STATUS
  (
    # -- always_script
{{- include "common.lines" . }}
  )
  {{- end }}
  {{- if .git.repo_url }}
  cd /
  rm -rf "$GIT_CLONE_DIR"
  {{- end }}
  exit "$EXIT_STATUS"
}
trap _step_finish EXIT
trap 'exit 143' TERM
{{- with .before }}

{{ . | trim }}
{{- end }}
{{- if .git.repo_url }}

# -- git
mkdir -p "$HOME/tmp"
export GIT_CLONE_DIR="$HOME/tmp/$HOSTNAME{{ .clone }}"
rm -rf "$GIT_CLONE_DIR"
git clone --quiet "{{ .git.repo_url }}" "$GIT_CLONE_DIR"
cd "$GIT_CLONE_DIR"
{{- with .git.branch }}
git checkout --quiet "{{ . }}"
{{- end }}
{{- with .git.commit }}
git cat-file -e "{{ . }}^{commit}" 2>/dev/null || git fetch --quiet origin "{{ . }}"
git reset --quiet --hard "{{ . }}"
{{- end }}
echo "Cloned into $GIT_CLONE_DIR at $(git rev-parse --short HEAD)"
{{- end }}
{{- with .inline }}

# -- inline_script
{{- include "common.lines" . }}
{{- end }}
{{- with .pre }}

# -- pre_script
{{- include "common.lines" . }}
{{- end }}
{{- with .command }}

# -- command
{{ . }}
{{- end }}
{{- if and .command .done }}
echo "{{ .done }} script done"
{{- end }}
{{- with .after }}

{{ . | trim }}
{{- end }}
{{- with .post }}

# -- post_script
{{- include "common.lines" . }}
{{- end }}
{{- end }}

{{/* common.recipeScript: common.script filled from the values that every chart shares.
     Usage: include "common.recipeScript" (dict "root" $ "work" .Values.train "done" "Training") */}}
{{- define "common.recipeScript" -}}
{{- $values := .root.Values }}
{{- $words := concat (.work.command | default list) (.work.args | default list) }}
{{- $recipe := dict "git" $values.git "inline" $values.inline_script "pre" $values.pre_script "post" $values.post_script "always" $values.always_script }}
{{- include "common.script" (merge (dict "command" (include "common.words" $words)) . $recipe) }}
{{- end }}
