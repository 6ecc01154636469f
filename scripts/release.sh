#!/usr/bin/env bash
# Builds release archives for linux, darwin and windows, with their checksums, into dist/, and says how large the programs are.
# With docker at hand, `docker build -f deploy/Containerfile .` makes an image of the linux program and nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
version=$(git describe --tags --always --dirty)
rm -rf dist && mkdir dist
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do
  os=${target%/*} arch=${target#*/}
  name=gauze-$version-$os-$arch suffix=
  [ "$os" = windows ] && suffix=.exe
  mkdir "dist/$name"
  # gauze-audit, which `gauze audit` starts, is apart: what replaces noise is linked into it alone.
  for program in gauze gauze-audit; do
    GOOS=$os GOARCH=$arch go build -buildvcs=true -trimpath -ldflags='-s -w' -o "dist/$name/$program$suffix" "./cmd/$program"
    printf '%s %s %s bytes\n' "$target" "$program" "$(wc -c < "dist/$name/$program$suffix")"
  done
  cp README.md LICENSE CHANGELOG.md SECURITY.md "dist/$name/"
  tar -C dist --sort=name --owner=0 --group=0 --mtime="@$(git log -1 --format=%ct)" -czf "dist/$name.tar.gz" "$name"
  rm -r "dist/${name:?}"
done
(cd dist && sha256sum ./*.tar.gz > SHA256SUMS)
