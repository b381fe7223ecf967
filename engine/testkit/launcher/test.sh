# shellcheck shell=bash
# The launcher's `test` command; ../../../sluice sources it, and has said what root, state and the STATUS_ words are.

# The tests on a real RDMA driver, and their reports.
readonly softroce=$root/samples/src/test/softroce softroce_results=$root/target/softroce
readonly softroce_payload=$root/target/softroce-payload
# It is there while Maven runs.
readonly maven_runs=$state/maven-runs
# The modules with tests, in the order of their layers.
readonly MODULES=(native engine/{core,testkit,cuda,collectives,collectives-cuda,experts,experts-cuda,comm-backends} metrics reactive-api/{reactor,directory,directory-contract,directory-etcd,directory-redis,directory-vertx,vertx} samples{,/snippets} docs/site)
readonly REPEATS_FOLDER=$root/target/repeat

print_test_usage() {
  cat << 'USAGE'
Usage: ./sluice test [OPTION...] [MAVEN ARGUMENT...]

Checks the format, runs the tests of all modules and those on a real RDMA driver, and counts them. Needs no network but
for what is not here yet: Maven's artifacts and Debian's packages.

  --only NAME       only the test classes of this name, which may have wildcards: Class, '*Contract*', 'A,B';
                    Class#method is one test. softroce is what runs on a real RDMA driver, in virtual machines: it ends
                    with status 75 where there can be none
  --soak            also the tests that run for minutes, with large extents
  --changed [BASE]  only the modules that differ from the commit BASE, and those that depend on them. Without BASE: from
                    the upstream branch, or else from the last commit
  --repeat N        runs the tests of --only N times, each in a new JVM, and says how many runs have failed
  --coverage        also writes each module's coverage to its target/site/jacoco
  -h, --help        shows this

Examples:
  ./sluice test --changed main
  ./sluice test --only LaneFailoverTest --repeat 20
  ./sluice test --only 'ChunkerTest#splits*'
  ./sluice test --soak --only TcpGuardPagesContractTest
USAGE
}

# ---- What the tests need, apart from the build's tools

# bring FOLDER COMMANDS PACKAGE...: puts the commands of Debian's packages on the path, where they are missing. The packages
# are only unpacked, with the libraries that they need: to install them would start services. Where they cannot be had, the
# tests that need them say so and are skipped.
bring() {
  local unpacked=$state/$1 commands=$2 command missing=''
  shift 2
  for command in $commands; do
    command -v "$command" > /dev/null || missing=yes
  done
  [[ -n $missing ]] || return 0
  if [[ ! -x $unpacked/bin/${commands%% *} ]]; then
    if ! command -v apt-get > /dev/null || [[ ${SLUICE_NO_INSTALL:-} == 1 ]]; then
      return 0
    fi
    say "downloading the Debian packages $* to $unpacked"
    rm -rf -- "$unpacked.new"
    mkdir -p "$unpacked.new/bin"
    if ! unpack_packages "$unpacked.new" "$@"; then
      say "that failed; the log is $state/install.log"
      return 0
    fi
    for command in $commands; do
      cat > "$unpacked.new/bin/$command" << 'SCRIPT'
#!/bin/sh
# The libraries of this program are unpacked, and not installed.
here=$(dirname -- "$(readlink -f -- "$0")")/..
for folder in "$here"/usr/lib/*-linux-gnu*; do
  LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/${0##*/}" "$@"
SCRIPT
      chmod +x "$unpacked.new/bin/$command"
    done
    rm -rf -- "$unpacked"
    mv -T -- "$unpacked.new" "$unpacked"
  fi
  export PATH=$unpacked/bin:$PATH
}

# Downloads packages and unpacks them into the folder $1: in one call, as each reads all lists for seconds. Only root can
# renew the lists.
unpack_packages() {
  (
    cd -- "$1" && shift &&
      { apt-get download "$@" || { apt-get update && apt-get download "$@"; }; } &&
      for package in *.deb; do
        dpkg-deb --extract "$package" . || exit
      done
  ) >> "$state/install.log" 2>&1 < /dev/null
}

# Brings the programs and libraries that tests use, with --soak those of its own, too. Tests say themselves what is missing.
bring_tools() {
  local packages=()
  bring prometheus 'prometheus promtool' prometheus
  bring etcd etcd etcd-server
  bring redis redis-server redis-server redis-tools libjemalloc2 liblzf1 libatomic1
  [[ -z $soak ]] || bring wrk wrk wrk libluajit-5.1-2 libluajit-5.1-common libssl3
  command -v chromium > /dev/null || packages+=(chromium)
  [[ $(uname -m) != x86_64 ]] || has_library libucp.so.0 || packages+=(libucx0)
  command -v ip > /dev/null || packages+=(iproute2)
  command -v python3 > /dev/null || packages+=(python3-minimal)
  compgen -G '/usr/share/fonts/*/*' > /dev/null || packages+=(fontconfig fonts-dejavu-core)
  ((${#packages[@]} == 0)) || try_install "${packages[@]}"
}

bring_qemu() {
  if [[ $(uname -m) == x86_64 ]] && ! command -v qemu-system-x86_64 > /dev/null; then
    try_install qemu-system-x86
  fi
}

# ---- Which modules

# Sets poms to the poms of all modules, by their folders, and artifacts to what Maven calls them: a process for each of the
# many questions about them would take long.
declare -A poms=() artifacts=()
read_poms() {
  local module pom artifact='<artifactId>(sluice-[a-z-]+)</artifactId>(.*)'
  for module in "${MODULES[@]}"; do
    IFS= read -r -d '' pom < "$root/$module/pom.xml" || true
    poms[$module]=$pom
    # The first is that of the parent.
    [[ $pom =~ $artifact && ${BASH_REMATCH[2]} =~ $artifact ]]
    artifacts[$module]=${BASH_REMATCH[1]}
  done
}

# Whether the module in the folder $1 depends on that in $2: by its artifact, or as it compiles its sources.
depends_on() {
  [[ ${poms[$1]} == *"<artifactId>${artifacts[$2]}</artifactId>"* || ${poms[$1]} == *"{sluice.root}/$2/src/"* ]]
}

# Prints the modules that differ from a commit, and those that depend on them; all, where a file of no module differs.
changed_modules() {
  local base=$1 files file module candidate other grown affected=' '
  files=$(git -C "$root" diff --no-renames --name-only "$base" -- && git -C "$root" ls-files --others --exclude-standard) ||
    fail "$STATUS_USAGE" "--changed: git knows no difference to $base"
  while IFS= read -r file; do
    [[ -n $file ]] || continue
    module=''
    for candidate in "${MODULES[@]}"; do
      [[ $file != "$candidate"/* ]] || module=$candidate
    done
    if [[ -z $module ]]; then
      printf '%s\n' "${MODULES[@]}"
      return
    fi
    [[ $affected == *" $module "* ]] || affected+="$module "
    # The site follows the links of all pages.
    [[ $file != *.md || $affected == *' docs/site '* ]] || affected+='docs/site '
  done <<< "$files"
  read_poms
  # Modules that depend on an affected module are affected, too: repeat until none is added.
  grown=yes
  while [[ -n $grown ]]; do
    grown=''
    for module in "${MODULES[@]}"; do
      [[ $affected != *" $module "* ]] || continue
      for other in $affected; do
        if depends_on "$module" "$other"; then
          affected+="$module "
          grown=yes
          break
        fi
      done
    done
  done
  for module in "${MODULES[@]}"; do
    [[ $affected != *" $module "* ]] || printf '%s\n' "$module"
  done
}

# Checks the format apart from the tests, so that neither hides what the other has to say; its output is in format.log.
check_format() {
  run_maven -q --fail-at-end com.diffplug.spotless:spotless-maven-plugin:check > "$state/format.log" 2>&1
}

# The processes that run at the same time as Maven, while they do. They end with this one.
format_check='' softroce_preparation=''
end_side_processes() {
  # shellcheck disable=SC2086 # none of them is no word
  [[ -z $format_check$softroce_preparation ]] || kill -TERM $format_check $softroce_preparation 2> /dev/null || true
}

# Waits until Maven is through with the module in the folder $1, or has ended: it writes the file at the end of a module, each
# time. Each look starts a process, which costs more than it seems where pages are mapped slowly.
await_module() {
  until [[ $root/$1/target/test-class-path -nt $unfinished || ! -e $maven_runs ]]; do
    sleep 2
  done
}

# Starts that check next to the tests; of all modules, when native is through, which keeps two processors busy: the engine's
# compiler, which follows, keeps one. Where the formatter is yet to be downloaded it runs alone: the tests' Maven would
# download the same at the same time.
start_format_check() {
  if [[ ! -d ${HOME:-}/.m2/repository/com/diffplug/spotless ]]; then
    check_format || formatted=''
    return
  fi
  {
    [[ -z $1 ]] || await_module native
    check_format
  } &
  format_check=$!
}

# Waits for that check, and shows what is wrong.
end_format_check() {
  [[ -z $format_check ]] || wait "$format_check" || formatted=''
  format_check=''
  [[ -n $formatted ]] || cat -- "$state/format.log"
}

# Prepares the short extent of the tests on a real RDMA driver while Maven is at modules that need one another, and leaves a
# processor idle. Where that fails, the tests prepare it themselves, and say why.
start_softroce_preparation() {
  command -v qemu-system-x86_64 > /dev/null || return 0
  {
    await_module reactive-api/reactor
    [[ ! -e $maven_runs ]] ||
      JAVA_HOME=$jdk run_child bash "$softroce/suite/payload" "$root" "$softroce_payload" ||
      rm -rf -- "$softroce_payload"
  } > "$state/softroce.log" 2>&1 &
  softroce_preparation=$!
}

end_softroce_preparation() {
  [[ -z $softroce_preparation ]] || wait "$softroce_preparation" || true
  softroce_preparation=''
}

# The commit that --changed compares with when none is named.
default_base() {
  git -C "$root" merge-base HEAD '@{upstream}' 2> /dev/null || echo HEAD
}

# ---- The same tests again and again

# pom_property NAME MODULE: the value of a property in a module's pom, or in the root's, with those that it names.
pom_property() {
  local value file
  for file in "$root/$2/pom.xml" "$root/pom.xml"; do
    value=$(sed -n "s:^ *<$1>\(.*\)</$1>\$:=\1:p; s:^ *<$1/>\$:=:p" "$file" | head -n 1)
    [[ -z $value ]] || break
  done
  value=${value#=}
  while [[ $value =~ \$\{([a-z.-]+)\} ]]; do
    value=${value/"${BASH_REMATCH[0]}"/"$(pom_property "${BASH_REMATCH[1]}" "$2")"}
  done
  printf '%s\n' "$value"
}

# module_environment MODULE: the environment of all tests of a module, as its pom has it, one variable a line.
module_environment() {
  sed -n '/<executions>/,/<\/executions>/d; /<environmentVariables>/,/<\/environmentVariables>/s:^ *<\([A-Z][A-Z0-9_]*\)>\(.*\)</\1>$:\1=\2:p' \
    "$root/$1/pom.xml"
}

# module_libraries MODULE: the options that name the stand-ins for the tests of a module, as its pom does.
module_libraries() {
  sed -n '/<executions>/,/<\/executions>/d; s:^ *<\(sluice\.[a-z]*\.library\)>\(.*\)</\1>$:-D\1=\2:p' "$root/$1/pom.xml" |
    while IFS= read -r option; do
      printf '%s\n' "${option/'${sluice.root}'/"$root"}"
    done
}

# repeat_tests COUNT NAME: runs the tests of that name, of all modules, COUNT times; they are compiled.
repeat_tests() {
  local count=$1 names=() name class method module pattern run failed=0 runs=0 options
  local -a java jar environment
  IFS=, read -r -a names <<< "$2"
  rm -rf -- "$REPEATS_FOLDER"
  for name in "${names[@]}"; do
    class=${name%%#*} method=''
    [[ $name != *#* ]] || method=${name#*#}
    # A name may have its package, and wildcards as Maven has them.
    pattern=${class//./\\.} pattern=${pattern//$/\\$}
    for module in "${MODULES[@]}"; do
      [[ -n $(find "$root/$module/target/test-classes" -name "${class##*.}.class" -print -quit 2> /dev/null || true) ]] || continue
      read -r -a options <<< "$(pom_property sluice.test.options "$module")"
      # The tests of the samples start the packaged program, as in the build.
      jar=("$root"/samples/target/sluice-samples-*.jar)
      [[ $module != samples ]] || options+=("-Dsluice.test.program=${jar[0]}")
      mapfile -t -O "${#options[@]}" options < <(module_libraries "$module")
      mapfile -t environment < <(module_environment "$module")
      java=("$jdk/bin/java" "${options[@]}"
        -cp "$root/$module/target/test-classes:$root/$module/target/classes:$(< "$root/$module/target/test-class-path")"
        org.junit.platform.console.ConsoleLauncher execute
        "--scan-classpath=$root/$module/target/test-classes" "--include-classname=(.*\.)?${pattern//\*/[^.]*}"
        --disable-banner --disable-ansi-colors --details=tree
        "--config=junit.jupiter.execution.timeout.default=$(pom_property sluice.test.timeout "$module")")
      [[ -z $method ]] || java+=("--include-methodname=.*#(${method//\*/.*})")
      if [[ -n $soak ]]; then
        java=("${java[0]}" "$soak" "${java[@]:1}")
      else
        java+=(--exclude-tag=soak "--exclude-tag=variant & process")
      fi
      for ((run = 1; run <= count; run++)); do
        repeat_once "$module" "$class" "$run" || failed=$((failed + 1))
        runs=$((runs + 1))
      done
    done
  done
  ((runs > 0)) || fail "$STATUS_USAGE" "--repeat: no test class is called $2"
  printf '%d of %d runs have failed; their output is in %s\n' "$failed" "$runs" "$REPEATS_FOLDER"
  ((failed == 0))
}

# One run: the tests for the software adapter in a process of their own, as in the build. A run without a test has failed.
repeat_once() {
  local module=$1 class=$2 run=$3 folder=$REPEATS_FOLDER/$2 status=0 verbs_status=0 began=$SECONDS counts
  mkdir -p -- "$folder"
  {
    run_child env -C "$root/$module" ${environment[@]+"${environment[@]}"} "${java[@]}" --exclude-tag=verbs \
      --exclude-tag=softroce --exclude-tag=softroce-netem "--reports-dir=$folder/$run" || status=$?
    if [[ $module == engine/core ]]; then
      run_child env -C "$root/$module" SOFT_ADAPTER_DEVICES=4 SOFT_ADAPTER_DELAY_NANOS=20000 "${java[0]}" \
        "-Dsluice.verbs.library=$root/native/target/native-objects/libsoftadapter.so" \
        ${soak:--Dsluice.test.profile=small} "${java[@]:1}" --include-tag=verbs "--reports-dir=$folder/$run/verbs" ||
        verbs_status=$?
    fi
  } > "$folder/$run.log" 2>&1
  counts=$(awk '/tests successful/ { passed += $2 } /tests failed/ { failed += $2 } /tests skipped/ { skipped += $2 }
    END { printf "%d passed, %d failed, %d skipped", passed, failed, skipped }' "$folder/$run.log")
  if ((status == 0 && verbs_status == 0)) && [[ $counts != '0 passed, 0 failed'* ]]; then
    printf '%s, run %d: %s in %d s\n' "$class" "$run" "$counts" "$((SECONDS - began))"
  else
    printf '%s, run %d: FAILED, %s in %d s; see %s\n' "$class" "$run" "$counts" "$((SECONDS - began))" "$folder/$run.log"
    [[ $counts != '0 passed, 0 failed, 0 skipped' ]] ||
      echo 'None of its tests runs here: those tagged softroce alone run with --only softroce, those tagged soak with --soak.'
    return 1
  fi
}

# ---- The command

run_tests() {
  local arguments=() only='' own=yes formatted=yes status=0 report_status=0 softroce_status=0 extent=brief
  local with_softroce='' changed='' base='' differing='' repeat='' soak='' modules=() module report=() began=$SECONDS
  while (($# > 0)); do
    case $1 in
      --soak)
        arguments+=(-Psoak)
        extent=whole
        soak=-Dsluice.test.profile=soak
        ;;
      --only)
        (($# > 1)) || fail "$STATUS_USAGE" "--only needs the name of a test class"
        only=$2
        shift
        ;;
      --only=*) only=${1#--only=} ;;
      --changed)
        changed=yes
        if (($# > 1)) && [[ $2 != -* ]]; then
          base=$2
          shift
        fi
        ;;
      --changed=*) changed=yes base=${1#--changed=} ;;
      --repeat=*)
        set -- --repeat "${1#--repeat=}" "${@:2}"
        continue
        ;;
      --repeat)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$STATUS_USAGE" "--repeat needs a number of runs"
        repeat=$2
        shift
        ;;
      --coverage) arguments+=(-Pcoverage) ;;
      -h | --help)
        print_test_usage
        return
        ;;
      *)
        arguments+=("$1")
        own=''
        ;;
    esac
    shift
  done
  [[ -z $repeat || (-n $only && $only != softroce) ]] || fail "$STATUS_USAGE" "--repeat needs --only and the name of a test class"
  [[ -z $changed || -z $only ]] || fail "$STATUS_USAGE" "--changed and --only exclude each other"
  if [[ -n $changed ]]; then
    base=${base:-$(default_base)}
    git -C "$root" rev-parse --quiet --verify "$base^{commit}" > /dev/null || fail "$STATUS_USAGE" "--changed: there is no commit $base"
    differing=$(changed_modules "$base") || exit
    [[ -z $differing ]] || mapfile -t modules <<< "$differing"
    if [[ -z $differing ]]; then
      say "nothing differs from $base"
      echo '0 passed, 0 failed, 0 skipped'
      return
    fi
    say "testing what differs from $base, and what depends on it: ${modules[*]}"
    for module in "${MODULES[@]}"; do
      [[ " ${modules[*]} " == *" $module "* ]] || arguments+=("-Dsluice.untested.${module##*/}=true")
    done
  fi
  if [[ $only == softroce || -n $repeat ]]; then
    [[ $only != softroce ]] || extent=whole
    arguments+=(-DskipTests)
  elif [[ -n $only ]]; then
    arguments+=("-Dtest=$only" -Dsurefire.failIfNoSpecifiedTests=false)
  fi

  take_lock
  require_tools
  if [[ $only != softroce ]]; then
    bring_tools
  fi
  if [[ $only == softroce || (-z $only && -n $own) ]]; then
    # Ask for permission to install now, not after all of Maven's tests.
    bring_qemu
  fi
  if [[ $only == softroce || (-z $only && -n $own && (-z $changed || " ${modules[*]} " == *' engine/core '* || -n $(git -C "$root" status --porcelain -- "$softroce") ||
    -n $(git -C "$root" diff --no-renames --name-only "$base" -- "$softroce"))) ]]; then
    with_softroce=yes
  fi
  begin_build
  find "$root" -type d -path '*/target/surefire-reports' -prune -exec rm -rf -- {} +
  rm -rf -- "$softroce_results" "$softroce_payload"
  trap end_side_processes EXIT
  : > "$maven_runs"
  if [[ -z $only ]]; then
    start_format_check "$own"
  fi
  if [[ -n $with_softroce && $extent == brief ]]; then
    start_softroce_preparation
  fi
  # Three modules at a time, where none needs another: compilers and waits then fill two processors. The tests on a
  # real RDMA driver, and those that are repeated, run without Maven and need its class path.
  run_maven -T 3 --fail-at-end -Dspotless.check.skip=true verify dependency:build-classpath -Dmdep.includeScope=test \
    -DexcludeTypes=pom -Dmdep.outputFile=target/test-class-path -Dmdep.regenerateFile=true ${arguments[@]+"${arguments[@]}"} || status=$?
  rm -f -- "$maven_runs"
  if [[ -z $only ]]; then
    end_format_check
  fi
  if ((status == 0)) && [[ -n $own ]]; then
    end_build packaged
  else
    end_build failed
  fi
  if [[ -n $repeat ]]; then
    ((status == 0)) || return "$status"
    repeat_tests "$repeat" "$only"
    return
  fi
  if [[ -n $with_softroce ]]; then
    if ((status == 0)); then
      end_softroce_preparation
      JAVA_HOME=$jdk run_child bash "$softroce/suite/test" "$root" "$softroce_results" "$extent" "$softroce_payload" ||
        softroce_status=$?
    else
      end_side_processes
      end_softroce_preparation
      echo 'Without a whole build the tests on a real RDMA driver do not run, and are not counted.'
    fi
  fi
  # Only in a guest has verbs been seen with a peer in another process.
  if [[ -z $only && -z $changed && -n $own ]] && ((status == 0)); then
    report=(--contract=tcp,shm)
    ((softroce_status != 0)) || report=(--contract=tcp,shm,verbs)
  fi
  release_lock

  echo
  if [[ -z $formatted ]]; then
    echo 'The format is not right: ./sluice format mends it.'
  fi
  if ((status != 0)); then
    echo "The build failed, with Maven's status $status: what it skipped is not counted."
  fi
  if ((softroce_status == STATUS_SKIPPED)); then
    echo 'The tests on a real RDMA driver were SKIPPED; the reason stands above.'
    [[ $only != softroce ]] || status=$STATUS_SKIPPED
  elif ((softroce_status != 0)); then
    echo 'Of the tests on a real RDMA driver not all have passed.'
    status=$softroce_status
  fi
  printf 'This took %d min %02d s.\n' "$(((SECONDS - began) / 60))" "$(((SECONDS - began) % 60))"
  "$jdk/bin/java" "$root/engine/testkit/launcher/TestReport.java" ${report[@]+"${report[@]}"} "$root" || report_status=$?
  ((status == 0)) || return "$status"
  ((report_status == 0)) && [[ -n $formatted ]]
}
