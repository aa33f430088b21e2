#!/usr/bin/env bash
# Creates an image of a `pavior` program built with the `kube` feature, using buildah or podman.
#
#   examples/kubernetes/image.sh PROGRAM TAG    # such as target/release/pavior registry.example/pavior:0.1.0
#
# The program should be static: RUSTFLAGS="-C target-feature=+crt-static" cargo build --release
# --target x86_64-unknown-linux-gnu -p pavior-cli --features kube. If it is not, the image
# also gets its libraries. BUILDER sets the command, such as `podman`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:?PROGRAM} tag=${2:?TAG}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/root"
cp "$here/Containerfile" "$folder/"
install -m 755 "$program" "$folder/root/pavior"
# A static program needs no libraries.
{ ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
  install -D -m 755 "$library" "$folder/root$library"
done
# shellcheck disable=SC2086 # The command may contain options.
${BUILDER:-buildah} build --isolation chroot -t "$tag" "$folder"
