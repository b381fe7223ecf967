#!/usr/bin/env bash
# Runs torch_sidecars.py: two PyTorch processes, and a sidecar of each that moves pages between their GPUs.
#
# Usage: torch-sidecars.sh JAVA CLASS_PATH [OPTION_OF_JAVA...]
#
# JAVA is a java program of version 25 or newer, such as runtime/bin/java of a package; CLASS_PATH has Sluice's jars, the test
# classes of sluice-cuda and those of sluice-testkit. PYTHON names another Python than python3.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
python=${PYTHON:-python3}
if ! gpus=$("$python" -c 'import torch; print(torch.cuda.device_count())'); then
  echo "$python has no PyTorch" >&2
  exit 2
fi
if ((gpus < 2)); then
  echo "PyTorch sees $gpus GPUs; two are needed" >&2
  exit 2
fi
# Expandable segments have no handle.
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False
exec "$python" "$(dirname -- "${BASH_SOURCE[0]}")/torch_sidecars.py" "$@"
