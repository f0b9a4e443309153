#!/usr/bin/env bash
# Take the pictures of the README: docs/images/screenshot.sh runs/<run id>/report.html [desktop height [phone height]]
# Needs chromium; pngquant, if there, makes the files a third of the size. Fonts: the page asks for Inter first.
set -Eeuo pipefail

page=$(realpath "${1:?Usage: $0 runs/<run id>/report.html}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A window cannot be as narrow as a phone, a frame can. The doubled scale keeps text sharp.
shoot() { # name, width, height, scale
  local picture="$here/report-$1.png"
  printf '<body style="margin:0"><iframe src="file://%s" style="border:0;display:block;width:%spx;height:%spx"></iframe>' \
    "$page" "$2" "$3" >"$work/$1.html"
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" \
    --force-device-scale-factor="$4" --window-size="$2,$3" --screenshot="$picture" "file://$work/$1.html" 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  if command -v pngquant >/dev/null; then pngquant --force --skip-if-larger --ext .png "$picture" || [ $? -eq 98 ]; fi
  echo "$picture: $(($(stat -c %s "$picture") / 1024)) KiB"
}

shoot desktop 1280 "${2:-1180}" 2
shoot phone 390 "${3:-1180}" 2
