# Sourced with $cache set: sets the directories of uv for packages and Pythons. Existing directories of the user are used
# until ours exist, so that nothing is downloaded twice. Nothing of the user's is moved or deleted.
# shellcheck shell=bash
ours() { # ours VARIABLE DIRECTORY DEFAULT
    if [ -z "${!1:-}" ] && { [ -d "$2" ] || [ ! -d "$3" ]; }; then export "$1=$2"; fi
}
ours UV_CACHE_DIR "$cache/uv-cache" "${XDG_CACHE_HOME:-$HOME/.cache}/uv"
ours UV_PYTHON_INSTALL_DIR "$cache/uv-python" "${XDG_DATA_HOME:-$HOME/.local/share}/uv/python"
