#!/bin/bash
# style.sh format|lint: clang-format and clang-tidy of version 19 over all tracked sources (.clang-format, .clang-tidy).
# `format` rewrites; `lint` only says what is not as it should be, and fails when something is not.
. "$(dirname "$0")/common.sh"
for tool in clang-format-19 clang-tidy-19; do
  command -v $tool >/dev/null || fail 4 "$tool is not installed" "format and lint need exactly version 19" "make setup DEV=1"
done

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh')
case "${1:-}" in
  format)
    clang-format-19 -i "${sources[@]}"
    say "format: ${#sources[@]} files"
    ;;
  lint)
    [ -f build/compile_commands.json ] || fail 4 "there is no build/compile_commands.json" \
      "clang-tidy must know how each file is compiled" "make build"
    status=0
    clang-format-19 --dry-run --Werror "${sources[@]}" || status=1
    # Only files that the build knows; kernels are left to nvcc.
    mapfile -t checked < <(printf '%s\n' "${sources[@]}" | grep '\.cpp$' |
      while read -r file; do grep -q "\"file\": \"$PWD/$file\"" build/compile_commands.json && echo "$file"; done)
    printf '%s\0' "${checked[@]}" | xargs -0 -n 4 -P "$(jobs)" clang-tidy-19 -p build --quiet || status=1
    say "lint: ${#sources[@]} files formatted, ${#checked[@]} read by clang-tidy: $([ $status -eq 0 ] && echo clean || echo "see above")"
    exit $status
    ;;
  *) fail 2 "style.sh does not know '${1:-}'" "it takes format or lint" "make format, or make lint" ;;
esac
