# Sourced with $cache set: where uv keeps packages and Pythons. Directories that the user has already are used instead,
# until ours exist: nothing is fetched twice, and nothing of the user's is moved or deleted.
# shellcheck shell=bash
ours() { # ours VARIABLE DIRECTORY DEFAULT
    if [ -z "${!1:-}" ] && { [ -d "$2" ] || [ ! -d "$3" ]; }; then export "$1=$2"; fi
}
ours UV_CACHE_DIR "$cache/uv-cache" "${XDG_CACHE_HOME:-$HOME/.cache}/uv"
ours UV_PYTHON_INSTALL_DIR "$cache/uv-python" "${XDG_DATA_HOME:-$HOME/.local/share}/uv/python"
