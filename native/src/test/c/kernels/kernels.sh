#!/usr/bin/env bash
# Runs the kernels of a module by a program of C alone, which compares their results: bare, and under compute-sanitizer where it is.
#
# Usage: kernels.sh MODULE [RUN...]
#
# MODULE is a folder such as engine/experts-cuda, with PTX in src/main/resources and a driver in src/test/c/kernels. A RUN is bare, memcheck,
# racecheck or synccheck; all if none is named. CC is the compiler, SLUICE_CUDA_LIBRARY stands for libcuda.so.1, and BUILD is a folder for
# the program. BOUND is how many seconds a bare run may take, 40 if it is not set; one under a sanitizer may take twice as long. Status 1:
# a result is wrong, a run takes too long, or a sanitizer complains.
set -euo pipefail

if (($# < 1)) || [[ ! -d $1/src/test/c/kernels ]]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
module=$(cd -- "$1" && pwd)
shift
if [[ ! ${BOUND:=40} =~ ^[1-9][0-9]{0,4}$ ]]; then
  echo "BOUND is a number of seconds from 1 to 99999, not $BOUND" >&2
  exit 2
fi
runs=("$@")
((${#runs[@]})) || runs=(bare memcheck racecheck synccheck)
library=${SLUICE_CUDA_LIBRARY:-libcuda.so.1}
if [[ -z ${BUILD:-} ]]; then
  BUILD=$(mktemp -d)
  trap 'rm -rf "$BUILD"' EXIT
fi
program=$BUILD/kernels-of-${module##*/}

# Nothing may be fused, so that sums have the bits of the kernels'.
"${CC:-cc}" -std=gnu11 -O1 -g -Wall -Wextra -Werror -ffp-contract=off -pthread -I"$here" -I"$here/../softgpu" \
  -I"$here/../../../main/c/cuda" "$here"/*.c "$module"/src/test/c/kernels/*.c -ldl -o "$program"

folder=$module/src/main/resources/META-INF/sluice
status=0
for run in "${runs[@]}"; do
  began=$SECONDS
  # by default all together five minutes at most; a driver compiles the PTX in each
  bound=$((2 * BOUND + 5))
  if [[ $run == bare ]]; then
    sanitizer=()
    bound=$BOUND
  elif ! command -v compute-sanitizer > /dev/null; then
    echo "$run: left out, as there is no compute-sanitizer"
    continue
  else
    sanitizer=(compute-sanitizer --tool "$run" --error-exitcode 1)
    # The program checks each call itself, and expects one to fail: that which asks for a parameter after the last.
    [[ $run != memcheck ]] || sanitizer+=(--report-api-errors no)
  fi
  # a kernel gives up before the program is ended, so that the rank that it waits for is said
  if timeout -k 2 "$bound" ${sanitizer[@]+"${sanitizer[@]}"} "$program" "$library" "$folder" $((bound * 500)); then
    echo "$run: passed in $((SECONDS - began)) s"
  else
    echo "$run: FAILED with status $? after $((SECONDS - began)) s"
    status=1
  fi
done
exit $status
