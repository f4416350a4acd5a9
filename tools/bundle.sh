#!/bin/bash
# bundle.sh: build/bundle, a folder that can be moved to another machine (another folder, a Slurm node, a machine with a card)
# and runs there. It has the shape of build/: bin lib labs plugins profiles include share, and tests for `make device`. lib holds
# what the programs need beyond a plain system and beyond CUDA; OpenBLAS, which the core opens when it finds it, stays
# outside.
. "$(dirname "$0")/common.sh"
bundle=build/bundle
limit_mib=30

[ -x build/bin/labrig-worker ] || fail 4 "there is nothing to bundle" "build/bin holds no programs" "make build"
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,lib,tests}

shopt -s nullglob
cp -L build/bin/labrig build/bin/labrig-{supervisor,worker,device,handout} "$bundle/bin/" 2>/dev/null || true
[ -x "$bundle/bin/labrig" ] || fail 4 "build/bin/labrig is not there" "the bundle is made from a whole build" "make build"
cp -L build/lib/liblabrig-*.so "$bundle/lib/"
# What `make device` runs: tests on a card, training on a card, checkpoints against the Python package, and the recordings
# that `labrig conform` compares with.
for program in build/bin/*contract* build/bin/labrig-device-test build/bin/nn-test; do
  cp -L "$program" "$bundle/tests/"
done
cp tools/device.sh "$bundle/tests/"
mkdir "$bundle/tests/golden"
cp tests/golden/core/*.json.gz "$bundle/tests/golden/"
for folder in labs plugins profiles include share; do
  [ -d "build/$folder" ] && cp -rL "build/$folder" "$bundle/$folder"
done

# What every system has, and what comes with CUDA and its driver.
outside='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libz|libcudart|libcublas|libcublasLt|libcuda)\.so'
mapfile -t binaries < <(find "$bundle" -type f \( -name '*.so' -o -path '*/bin/*' -o -path '*/tests/*' \) ! -name '*.sh' ! -name '*.gz')
for binary in "${binaries[@]}"; do
  while read -r name path; do
    [[ $name =~ $outside || $name == liblabrig-* || -e $bundle/lib/$name ]] && continue
    [ -n "$path" ] || fail 5 "the bundle would lack $name" "$binary needs it, and it is not on this machine" "make setup, make build"
    cp -L "$path" "$bundle/lib/$name"
  done < <(ldd "$binary" | awk '$2 == "=>" { print $1, ($3 ~ /^\// ? $3 : "") }')
done

mapfile -t binaries < <(find "$bundle" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
for binary in "${binaries[@]}"; do strip --strip-unneeded "$binary"; done

# A path of this machine in a binary would be looked up on the other one. The cuda backend names CUDA's own folders.
for binary in "${binaries[@]}"; do
  [[ $binary == */liblabrig-cuda.so ]] && continue
  paths=$(readelf -d "$binary" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p' | tr : '\n' | grep -Ev '^\$ORIGIN' || true)
  [ -z "$paths" ] || fail 5 "$binary cannot be moved" "it looks for libraries in $paths" "give its target RPATHs relative to \$ORIGIN"
done

mib=$(($(du -sb "$bundle" | cut -f1) / 1048576))
[ "$mib" -le $limit_mib ] || fail 5 "the bundle has $mib MiB" "at most $limit_mib MiB are allowed" "look for what is large: du -a $bundle | sort -n"
say "bundle: $bundle, $mib MiB, ${#binaries[@]} binaries"
