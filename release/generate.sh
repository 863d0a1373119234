#!/usr/bin/env bash
# Writes the man page and the completion scripts that the packages carry.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p release/out
run() { go run . "$@"; }
run man > release/out/holodeck.1
for shell in bash zsh fish; do run completion "$shell" > "release/out/holodeck.$shell"; done
