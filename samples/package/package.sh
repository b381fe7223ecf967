# shellcheck shell=bash
# The launcher's `package` command; ../../sluice sources it, and has said what root, state and the STATUS_ words are.

# Modules of the JDK that the libraries use. jdeps finds what Sluice's own classes use; of the libraries it would also name what they
# look for and do without, such as java.desktop. Hazelcast, whose jars a user may add, does not start without
# java.transaction.xa, and complains without jdk.net.
readonly LIBRARY_MODULES=java.management,java.naming,java.transaction.xa,java.xml,jdk.management,jdk.net,jdk.unsupported

print_package_usage() {
  cat << 'USAGE'
Usage: ./sluice package

Writes target/sluice-VERSION-linux-ARCH.tar.gz: one folder with the program, a Java runtime, and the C programs of `compare`,
compiled. On any Linux host of this architecture with the C library of this one or a newer one, bin/sluice in that folder runs
demo, bench, compare, info and the other commands without a JDK, Maven, a compiler or a network. Only cluster-demo and
mover --cluster take more: the two jars of Hazelcast, to be copied from samples/target/lib into lib.
USAGE
}

# The functions below are called in conditions, where a failure does not end the shell.

# A Java runtime in the folder $1/runtime, of the modules that the program in $1 uses.
make_runtime() {
  local classes=$1/classes jar modules
  mkdir -- "$classes" || return 1
  for jar in "$1/sluice-samples.jar" "$1"/lib/sluice-*.jar; do
    (cd -- "$classes" && "$jdk/bin/jar" --extract --file "$jar") || return 1
  done
  # As a module it would have to be complete.
  rm -f -- "$classes/module-info.class" &&
    modules=$("$jdk/bin/jdeps" --ignore-missing-deps --multi-release "$JAVA_FEATURE" --print-module-deps "$classes") &&
    rm -rf -- "$classes" &&
    "$jdk/bin/jlink" --add-modules "$modules,$LIBRARY_MODULES" --strip-java-debug-attributes --no-header-files \
      --no-man-pages --compress zip-0 --output "$1/runtime" &&
    find "$1/runtime/lib" -name '*.so' -exec strip --strip-unneeded {} +
}

# The jars in the folder $1. Of the library of charts the program reads one file, of two dozen; Hazelcast alone would be a third.
copy_jars() {
  local charts part=$1/charts
  cp -L -- "$program/sluice-samples.jar" "$1/" &&
    cp -RL -- "$program/lib" "$1/lib" &&
    rm -f -- "$1"/lib/hazelcast-*.jar "$1"/lib/vertx-hazelcast-*.jar &&
    charts=$(printf '%s' "$1"/lib/echarts-*.jar) &&
    mkdir -- "$part" &&
    (cd -- "$part" && "$jdk/bin/jar" --extract --file "$charts") &&
    find "$part" -path '*/webjars/*' -type f ! -name echarts.min.js ! -name 'LICENSE*' ! -name 'NOTICE*' -delete &&
    "$jdk/bin/jar" --create --file "$charts" --no-manifest -C "$part" . &&
    rm -rf -- "$part"
}

# bin/sluice in the folder $1: what this launcher does once the program is built.
write_launcher() {
  mkdir -- "$1/bin" && {
    cat << 'HEAD'
#!/usr/bin/env bash
# Becomes the program of this package, which needs nothing from outside of its folder. It takes SLUICE_JAVA_OPTIONS (options for
# the JVM, separated by spaces) and SLUICE_AOT=1 (start sooner, with a cache that the first start makes in ~/.cache/sluice).
set -euo pipefail
app=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
program=$app jdk=$app/runtime aot_cache=''
export SLUICE_PEERS=$app/peers

HEAD
    declare -f say use_utf8 become_java find_aot_cache run_program
    printf '\nuse_utf8\nrun_program "$@"\n'
  } > "$1/bin/sluice" && chmod 755 -- "$1/bin/sluice"
}

# The C programs of `compare` in the folder $1, compiled as BaselineBuild does it.
build_peers() {
  local all=$root/samples/tools/src/main/c name
  mkdir -- "$1" || return 1
  for name in ceiling gpu; do
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -O2 -s -I"$all" -I"$root/native/src/main/c/cuda" -o "$1/$name" \
      "$all"/*.c "$all/$name"/*.c -ldl || return 1
  done
}

# Fills the folder $1.
fill_package() {
  copy_jars "$1" && make_runtime "$1" && write_launcher "$1" && build_peers "$1/peers" &&
    cp -- "$root/LICENSE" "$1/" &&
    printf '%s\n' > "$1/README" \
      'Sluice: one-sided transfers between the memory of processes. bin/sluice --help lists the commands.' \
      'The licences of what others have written are in META-INF of the jars and in runtime/legal.' &&
    chmod -R u+w,go+rX -- "$1"
}

make_package() {
  local log=$state/package.log work=$state/package version name archive
  case ${1:-} in
    '') ;;
    -h | --help)
      print_package_usage
      return
      ;;
    *) fail "$STATUS_USAGE" "package takes no arguments; --help says what it does" ;;
  esac
  prepare_program
  [[ -x $jdk/bin/jlink && -x $jdk/bin/jdeps ]] || fail "$STATUS_TOOL_MISSING" \
    "$jdk has no jlink or jdeps: name the folder of a whole JDK $JAVA_FEATURE in SLUICE_JAVA_HOME."
  finds_header stdio.h || fail "$STATUS_TOOL_MISSING" \
    "there is no C compiler, which the programs of compare need. As root: apt-get install -y gcc libc6-dev"
  version=$(printf '%s' "$program"/lib/sluice-engine-*.jar)
  version=${version##*/sluice-engine-}
  name=sluice-${version%.jar}-linux-$(uname -m)
  archive=$root/target/$name.tar.gz
  say "packaging $name (log: $log)"
  take_lock
  rm -rf -- "$work"
  mkdir -p -- "$work/$name"
  if ! { fill_package "$work/$name" &&
    tar --create --owner=0 --group=0 --numeric-owner --sort=name --directory "$work" -- "$name" | gzip > "$work/archive"; } \
    > "$log" 2>&1; then
    tail -n 20 -- "$log" >&2
    fail "$STATUS_BUILD_FAILED" "the package failed; the whole log is $log"
  fi
  mv -- "$work/archive" "$archive"
  rm -rf -- "$work"
  release_lock
  printf '%s: %s MB\n' "$archive" "$(($(stat -c %s -- "$archive") / 1000000))"
}
