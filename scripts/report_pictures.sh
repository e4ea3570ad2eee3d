#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Photographs a page of `tilehash report` in headless Chromium, as a phone and as a desktop show it, light and dark, into
# FOLDER/report_DEVICE_SCHEME.png. Fails if the page is wider than a phone. Ends with 77 where there is no Chromium.
#   scripts/report_pictures.sh PAGE FOLDER
# shellcheck source=scripts/lib.sh
here=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$here"
[ $# -eq 2 ] || die "usage: scripts/report_pictures.sh PAGE FOLDER"
[ -r "$1" ] || die "$1: cannot read it; tilehash report DIR -o PAGE writes one"
page=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  say "skipped: there is no Chromium (Debian, Ubuntu: chromium)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
open() { # its arguments are options and an address
  HOME="$work" timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --user-data-dir="$work/profile" --virtual-time-budget=5000 "$@" 2>"$work/errors" ||
    die "$browser failed: $(tail -n 1 "$work/errors")"
}

# A window is at least 500 pixels wide, so a frame is the phone.
phone=390
cat >"$work/phone.html" <<EOF
<!doctype html><body style="margin:0"><iframe src="file://$page" style="border:0;width:${phone}px;height:844px"></iframe>
<script>onload = () => { const d = frames[0].document.documentElement; document.title = 'beyond: ' + (d.scrollWidth - d.clientWidth); };</script>
EOF
beyond=$(open --allow-file-access-from-files --dump-dom "file://$work/phone.html" | sed -nE 's/.*<title>beyond: ([0-9]+).*/\1/p')
[ -n "$beyond" ] || die "$1: Chromium did not show the page"
[ "$beyond" -eq 0 ] || die "$1: the page is $beyond pixels wider than a phone of $phone"

for scheme in dark light; do
  [ $scheme = dark ] && number=0 || number=1
  open --blink-settings=preferredColorScheme="$number" --window-size=500,844 \
    --screenshot="$folder/report_phone_$scheme.png" "file://$work/phone.html" >/dev/null
  open --blink-settings=preferredColorScheme="$number" --window-size=1280,1600 \
    --screenshot="$folder/report_desktop_$scheme.png" "file://$page" >/dev/null
done
say "pictures: $folder/report_{phone,desktop}_{light,dark}.png"
