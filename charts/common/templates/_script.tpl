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
     command), before (our own shell lines before the recipe's), after (our own lines between the command and `post`), options (of `set`, for the
     recipe's lines), shared (several processes of the pod run this script). `always` runs in a subshell, so that nothing in it can change the exit
     status. */}}
{{- define "common.script" -}}
#!/bin/bash
# Release {{ .root.Release.Name }}, chart {{ .root.Chart.Name }}.
{{- $ours := "-Eeo pipefail" }}
{{- $options := ternary .options $ours (hasKey . "options") | default "" }}
set {{ $ours }}

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
  if [ "${_step_clone:-}" ]; then
    {{- if .shared }}
    (
      flock 9
      if flock -n "$_step_users"; then
        rm -rf "$_step_clone"
        # Before the next rank may look: it would take this one for a user of the clone.
        flock -u "$_step_users"
      fi
    ) 9>/dev/shm/clone.lock
    {{- else }}
    rm -rf "$_step_clone"
    {{- end }}
  fi
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
{{- if .shared }}
exec {_step_users}>/dev/shm/clone.users
{{- end }}
readonly _step_clone="$HOME/tmp/$HOSTNAME"
export GIT_CLONE_DIR="$_step_clone"

_step_git() {
  local url="{{ .git.repo_url }}"
  # A login in the address goes to git through its askpass: as part of the address it would stay in .git/config.
  if [[ "$url" =~ ^(https?://)([^/@]+)@(.*)$ ]]; then
    url="${BASH_REMATCH[1]}${BASH_REMATCH[3]}"
    local -x GIT_ASKPASS=/etc/config/askpass.sh GIT_LOGIN="${BASH_REMATCH[2]}"
  fi
  local -x GIT_TERMINAL_PROMPT=0
  rm -rf "$_step_clone"
  git clone --quiet "$url" "$_step_clone"
  cd "$_step_clone"
  {{- with .git.branch }}
  git checkout --quiet "{{ . }}"
  {{- end }}
  {{- with .git.commit }}
  git cat-file -e "{{ . }}^{commit}" 2>/dev/null || git fetch --quiet origin "{{ . }}"
  git reset --quiet --hard "{{ . }}"
  {{- end }}
  echo "Cloned into $_step_clone at $(git rev-parse --short HEAD)"
}
{{- if .shared }}

# One clone for all processes of the pod that run this script: the first one makes it, the last one removes it. They share a lock for as long as they
# live, however they end: who gets it alone is the first or the last.
(
  flock 9
  if flock -n "$_step_users"; then
    trap 'flock -u "$_step_users"' EXIT
    _step_git
    trap - EXIT
  fi
  flock -s "$_step_users"
) 9>/dev/shm/clone.lock
{{- else }}
_step_git
{{- end }}
cd "$_step_clone"
{{- end }}
{{- if ne $options $ours }}

# -- shell_options
set +Eeo pipefail
{{- with $options }}
set {{ . }}
{{- end }}
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
{{- if regexMatch "(^| )-[A-Za-z]*e|errexit" $options }}
echo "{{ .done }} script done"
{{- else }}
_step_status=$?
if [ "$_step_status" = 0 ]; then
  echo "{{ .done }} script done"
fi
{{- if not (or .after .post) }}
exit "$_step_status"
{{- end }}
{{- end }}
{{- end }}
{{- with .after }}

{{ . | trim }}
{{- end }}
{{- with .post }}

# -- post_script
{{- include "common.lines" . }}
{{- end }}
{{- end }}

{{/* common.askpassScript: answers git's question for a login, from the one in the recipe's address: user:password, or a token alone. */}}
{{- define "common.askpassScript" -}}
#!/bin/bash
login="$GIT_LOGIN"
case "$1" in
  Username*) answer="${login%%:*}" ;;
  *) answer="${login#*:}" && [ "$answer" != "$login" ] || answer='' ;;
esac
# The parts of an address are percent-encoded.
printf '%b\n' "${answer//%/\\x}"
{{- end }}

{{/* common.recipeScript: common.script filled from the values that every chart shares, `command` from the program unless the chart gives it.
     Usage: include "common.recipeScript" $context */}}
{{- define "common.recipeScript" -}}
{{- $values := .root.Values }}
{{- $words := concat (.program.command | default list) (.program.args | default list) }}
{{- $recipe := dict "git" $values.git "inline" $values.inline_script "pre" $values.pre_script "post" $values.post_script "always" $values.always_script }}
{{- include "common.script" (merge (dict "command" (.commandText | default (include "common.words" $words)) "options" $values.shell_options) . $recipe) }}
{{- end }}

{{/* common.shellQuote: text as one word of the shell, whatever it holds. Usage: include "common.shellQuote" "it's" */}}
{{- define "common.shellQuote" -}}
{{- if regexMatch "^[A-Za-z0-9_./:=,@%+-]+$" . }}{{ . }}{{ else }}'{{ replace "'" `'\''` . }}'{{ end }}
{{- end }}
