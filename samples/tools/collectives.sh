# shellcheck shell=bash
# The libraries that `compare` measures collectives with; ../../sluice sources it, and has said what root and state are.

# Their Debian packages, with the libraries that these need.
readonly COLLECTIVE_PACKAGES=(openmpi-bin openmpi-common libopenmpi-dev libopenmpi3 libevent-core-2.1-7
  libevent-pthreads-2.1-7 libhwloc15 libpmix2 libfabric1 libpsm-infinipath1 libpsm2-2 libucx0 librdmacm1 libibverbs1
  libnl-3-200 libnl-route-3-200 libmunge2 libnuma1 libxnvctrl0 mpich libmpich-dev libmpich12 libgfortran5 libquadmath0
  libslurm38 libgloo-dev libgloo0 libhiredis0.14)

# Puts them on the path, where one is missing and they may be downloaded. They are only unpacked, which takes no root.
# What cannot be had is left out, and the command says so.
bring_collectives() {
  local unpacked=$state/collectives package
  if command -v mpirun.openmpi > /dev/null && command -v mpiexec.hydra > /dev/null && [[ -f /usr/include/gloo/config.h ]]; then
    return 0
  fi
  if [[ ! -x $unpacked/bin/mpirun.openmpi ]]; then
    if ! command -v apt-get > /dev/null || [[ ${SLUICE_NO_INSTALL:-} == 1 ]]; then
      return 0
    fi
    # shellcheck source-path=SCRIPTDIR source=../../engine/testkit/launcher/test.sh
    . "$root/engine/testkit/launcher/test.sh"
    say "downloading the Debian packages of Open MPI, MPICH and gloo to $unpacked"
    rm -rf -- "$unpacked.new"
    mkdir -p "$unpacked.new/bin"
    for package in "${COLLECTIVE_PACKAGES[@]}"; do
      unpack_package "$package" "$unpacked.new" || say "$package cannot be had; the log is $state/install.log"
    done
    rm -f -- "$unpacked.new"/*.deb
    # An installation makes this link.
    ln -s libpsm_infinipath.so.1.16 "$unpacked.new/usr/lib/libpsm1/libpsm_infinipath.so.1" 2> /dev/null || true
    for package in mpirun.openmpi mpiexec.hydra; do
      [[ ! -e $unpacked.new/usr/bin/$package ]] || write_unpacked "$unpacked.new/bin/$package"
    done
    rm -rf -- "$unpacked"
    mv -T -- "$unpacked.new" "$unpacked"
  fi
  export PATH=$unpacked/bin:$PATH
}

# A program $1 that finds what was unpacked around it.
write_unpacked() {
  cat > "$1" << 'SCRIPT' && chmod +x "$1"
#!/bin/sh
# The libraries of this program are unpacked, and not installed.
here=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
for folder in "$here"/usr/lib/*-linux-gnu*; do
  export LD_LIBRARY_PATH="$folder:$folder/libpsm1:$here/usr/lib/libpsm1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export OPAL_LIBDIR="$folder/openmpi/lib" PMIX_INSTALL_PREFIX="$folder/pmix2"
done
export OPAL_PREFIX="$here/usr" PMIX_MCA_pcompress_base_silence_warning=1
exec "$here/usr/bin/${0##*/}" "$@"
SCRIPT
}
