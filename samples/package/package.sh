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
demo, bench, compare, info and the other commands without a JDK, Maven, a compiler or a network, and gpu-test the tests of
GPU memory. Only cluster-demo and mover --cluster take more: the two jars of Hazelcast, to be copied from samples/target/lib
into lib.
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

# ---- The tests of GPU memory

# Whether the tests of GPU memory are compiled, and no source of theirs is newer.
are_gpu_tests_fresh() {
  local class_path=$root/engine/cuda/target/test-class-path folder newer
  [[ -f $class_path && -d $root/engine/cuda/target/test-classes && -d $root/engine/testkit/target/classes ]] || return 1
  for folder in "$root"/engine/{cuda,testkit}/src "$root"/native/src/{test,testkit}; do
    [[ -d $folder ]] || continue
    newer=$(find "$folder" -newercm "$class_path" -print -quit) && [[ -z $newer ]] || return 1
  done
}

# Compiles them.
prepare_gpu_tests() {
  local log=$state/gpu-tests.log
  ! are_gpu_tests_fresh || return 0
  require_tools
  begin_build
  say "compiling the tests of GPU memory (log: $log)"
  if ! run_maven -pl engine/cuda -am test-compile dependency:build-classpath -Dmdep.includeScope=test -DexcludeTypes=pom \
    -Dmdep.outputFile=target/test-class-path > "$log" 2>&1; then
    end_build failed
    show_errors "$log" >&2 || true
    fail "$STATUS_BUILD_FAILED" "the build failed; the whole log is $log"
  fi
  end_build failed
}

# Their classes and libraries in the folder $1, and the GPUs and adapters in software, which are where the tests look for them.
copy_gpu_tests() {
  local target=$root/engine/cuda/target kit=$root/engine/testkit/target/classes jar jars=()
  local objects=native/target/native-objects
  mkdir -p -- "$1/lib" "$1/$objects" &&
    "$jdk/bin/jar" --create --file "$1/lib/sluice-cuda-tests.jar" --no-manifest -C "$target/test-classes" . &&
    "$jdk/bin/jar" --create --file "$1/lib/sluice-testkit.jar" --no-manifest -C "$kit" . || return 1
  IFS=: read -r -d '' -a jars < "$target/test-class-path" || true
  for jar in "${jars[@]}"; do
    case ${jar##*/} in
      junit-* | opentest4j-* | open-test-* | assertj-core-*) cp -- "${jar%$'\n'}" "$1/lib/" || return 1 ;;
    esac
  done
  for jar in libsoftgpu.so libsoftadapter.so; do
    cp -- "$root/$objects/$jar" "$1/$objects/" && strip --strip-unneeded "$1/$objects/$jar" || return 1
  done
  # That of the page takes the checkout.
  (cd -- "$target/test-classes/io/sluice/cuda" && printf '%s\n' *Test.class) |
    sed -n '/^GpuPageTest\./d; s/\.class$//p' > "$1/tests"
}

print_gpu_test_usage() {
  cat << 'USAGE'
Usage: bin/sluice gpu-test [OPTION...] [TEST...]

Runs the tests of GPU memory on the first two GPUs of this host, each class of tests in a process of its own, and says how
many of each were successful, aborted (as they take a GPU in software) or failed. Status 1: some failed, or did not end.

  TEST             only these classes, such as CudaContractTest
  --software       on GPUs in software
  --soak           also those that run for minutes
  --limit SECONDS  the longest that a class may take; then the log has the stacks of its threads. Default 600
  --logs FOLDER    where the logs go, one a class. Default sluice-gpu-test
USAGE
}

# For the package: app and jdk are its folders.
run_gpu_tests() {
  local tests=$app/gpu-tests logs=sluice-gpu-test limit=600 class counts status failed=()
  local names=() real=(-Dsluice.cuda.real=true) tags=(--exclude-tag soak)
  while (($# > 0)); do
    case $1 in
      -h | --help)
        print_gpu_test_usage
        return
        ;;
      --software) real=() ;;
      --soak) tags=() ;;
      --limit | --logs)
        (($# > 1)) || { say "$1 takes a value" && return 64; }
        if [[ $1 == --limit ]]; then limit=$2; else logs=$2; fi
        shift
        ;;
      -*)
        say "gpu-test knows no option $1; --help lists them"
        return 64
        ;;
      *) names+=("$1") ;;
    esac
    shift
  done
  ((${#names[@]} > 0)) || mapfile -t names < "$tests/tests"
  mkdir -p -- "$logs" || return 1
  # Streams that share a queue of the driver's wait for each other.
  export CUDA_DEVICE_MAX_CONNECTIONS=32
  for class in "${names[@]}"; do
    status=0
    # Told to quit, a JVM prints the stacks of its threads and goes on.
    timeout --signal=QUIT --kill-after=10 "$limit" "$jdk/bin/java" -Xmx2g -ea --enable-native-access=ALL-UNNAMED \
      --sun-misc-unsafe-memory-access=allow ${real[@]+"${real[@]}"} "-Dbasedir=$tests/engine/cuda" \
      -cp "$tests/lib/*:$app/lib/*" org.junit.platform.console.ConsoleLauncher execute --disable-banner \
      --disable-ansi-colors --details=verbose ${tags[@]+"${tags[@]}"} \
      --config=junit.jupiter.execution.timeout.default=120s --select-class "io.sluice.cuda.$class" \
      > "$logs/$class.txt" 2>&1 < /dev/null || status=$?
    counts=$(sed -n 's/^\[ *\([0-9]* tests \(skipped\|aborted\|successful\|failed\)\) *\]$/\1/p' "$logs/$class.txt")
    [[ -n $counts ]] || counts="did not end, status $status"
    ((status == 0)) || failed+=("$class")
    printf '%s: %s\n' "$class" "${counts//$'\n'/, }"
  done
  ((${#failed[@]} == 0)) || { say "failed: ${failed[*]}; the logs are in $logs" && return 1; }
}

# ---- The package

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
    declare -f say use_utf8 become_java find_aot_cache run_program print_gpu_test_usage run_gpu_tests
    printf '\nuse_utf8\nif [[ ${1:-} == gpu-test ]]; then\n  shift\n  run_gpu_tests "$@"\nelse\n  run_program "$@"\nfi\n'
  } > "$1/bin/sluice" && chmod 755 -- "$1/bin/sluice"
}

# The C programs of `compare` in the folder $1, compiled as BaselineBuild does it.
build_peers() {
  local all=$root/samples/tools/src/main/c name
  mkdir -- "$1" || return 1
  for name in ceiling experts gpu; do
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -O2 -s -I"$all" -I"$root/native/src/main/c/cuda" -o "$1/$name" \
      "$all"/*.c "$all/$name"/*.c -ldl || return 1
  done
}

# Fills the folder $1.
fill_package() {
  copy_jars "$1" && make_runtime "$1" && copy_gpu_tests "$1/gpu-tests" &&
    "$jdk/bin/java" "$root/samples/package/StoredJars.java" "$1" &&
    write_launcher "$1" && build_peers "$1/peers" &&
    cp -- "$root/LICENSE" "$1/" &&
    printf '%s\n' > "$1/README" \
      'Sluice: one-sided transfers between the memory of processes. bin/sluice --help lists the commands; gpu-test is one more.' \
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
  prepare_gpu_tests
  rm -rf -- "$work"
  mkdir -p -- "$work/$name"
  if ! { fill_package "$work/$name" &&
    tar --create --owner=0 --group=0 --numeric-owner --sort=name --directory "$work" -- "$name" | gzip -9 > "$work/archive"; } \
    > "$log" 2>&1; then
    tail -n 20 -- "$log" >&2
    fail "$STATUS_BUILD_FAILED" "the package failed; the whole log is $log"
  fi
  mv -- "$work/archive" "$archive"
  rm -rf -- "$work"
  release_lock
  printf '%s: %s MB\n' "$archive" "$(($(stat -c %s -- "$archive") / 1000000))"
}
