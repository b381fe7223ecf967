# shellcheck shell=bash
# The launcher's commands for developers: `jmh`, `format`, `sbom` and `docs`. ../../../sluice sources it, and has set root,
# state, jdk and the STATUS_ words.

# The modules that have benchmarks.
readonly BENCHMARKED=engine/core,reactive-api/reactor

run_benchmarks() {
  local log=$state/jmh-build.log module class_path='' program=(org.openjdk.jmh.Main -prof gc)
  if [[ ${1:-} == --help ]]; then
    printf '%s\n' 'Usage: ./sluice jmh [PATTERN] [JMH OPTION...]' \
      '       ./sluice jmh --pages [TRANSPORT...]   lists of pages, compared with lists of elements and copies in C' \
      '  PATTERN     only the benchmarks whose name matches this regular expression' \
      '  JMH OPTION  such as -f 1 -wi 2 -i 3 (fewer forks and iterations) or -l (a list); -h lists them all' \
      'Nanoseconds and bytes allocated (gc.alloc.rate.norm) are given for each operation.'
    return
  fi
  if [[ ${1:-} == --pages ]]; then
    shift
    program=(io.sluice.engine.PageListFigures)
  fi
  take_lock
  require_tools
  begin_build
  say "building the benchmarks (log: $log)"
  if ! run_maven -pl "$BENCHMARKED" -am test-compile dependency:build-classpath \
    -Dmdep.includeScope=test -Dmdep.outputFile=target/jmh-class-path > "$log" 2>&1; then
    end_build failed
    show_errors "$log" >&2 || true
    fail "$STATUS_BUILD_FAILED" "the build failed; the whole log is $log"
  fi
  end_build failed
  # The lock is kept while they run: they run from the folders that a build changes.
  # The list of benchmarks lies next to the test classes of each module.
  for module in ${BENCHMARKED//,/ }; do
    class_path+="$root/$module/target/test-classes:$root/$module/target/classes:"
    class_path+="$(< "$root/$module/target/jmh-class-path"):"
  done
  become_java -cp "${class_path%:}" "${program[@]}" "$@"
}

format() {
  (($# == 0)) || fail "$STATUS_USAGE" "format takes no arguments"
  take_lock
  require_tools
  run_maven -q com.diffplug.spotless:spotless-maven-plugin:apply || fail "$STATUS_BUILD_FAILED" "the formatter failed"
}

# Writes the bill of materials in the format of CycloneDX.
write_bom() {
  local log=$state/sbom.log bom=$root/target/bom.json
  (($# == 0)) || fail "$STATUS_USAGE" "sbom takes no arguments"
  take_lock
  require_tools
  mkdir -p "$state"
  rm -f -- "$bom"
  # Modules that are not built yet cannot be resolved, so they are compiled first.
  if ! run_maven -Dmaven.test.skip=true compile \
    org.cyclonedx:cyclonedx-maven-plugin:makeAggregateBom > "$log" 2>&1; then
    show_errors "$log" >&2 || true
    fail "$STATUS_BUILD_FAILED" "the bill of materials failed; the whole log is $log"
  fi
  release_lock
  [[ -s $bom ]] || fail "$STATUS_BUILD_FAILED" "there is no $bom; the whole log is $log"
  printf '%s: %s components\n' "$bom" "$(grep -c '"purl"' "$bom")"
}

# The pages and the Javadoc of the public packages, as one site. A warning of javadoc or a dead link fails it.
build_site() {
  local log=$state/docs.log site=$root/docs/site/target status=0
  if [[ ${1:-} == --help ]]; then
    printf '%s\n' 'Usage: ./sluice docs' \
      'Builds target/site: the pages and the Javadoc of the public packages, with a search over both. Ends with status 1' \
      'where javadoc has a warning or a link is dead.'
    return
  fi
  (($# == 0)) || fail "$STATUS_USAGE" "docs takes no arguments"
  take_lock
  require_tools
  begin_build
  say "building the site (log: $log)"
  if ! run_maven process-classes dependency:build-classpath -Dmaven.test.skip=true \
    -Dmdep.includeScope=compile -Dmdep.outputFile=target/docs-class-path > "$log" 2>&1; then
    end_build failed
    show_errors "$log" >&2 || true
    fail "$STATUS_BUILD_FAILED" "the build failed; the whole log is $log"
  fi
  end_build failed
  run_child "$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    -cp "$site/classes:$(< "$site/docs-class-path")" io.sluice.site.SiteBuilder "$root" "$root/target/site" || status=$?
  release_lock
  return "$status"
}

run_for_developers() {
  local command=$1
  shift
  case $command in
    jmh) run_benchmarks "$@" ;;
    format) format "$@" ;;
    sbom) write_bom "$@" ;;
    docs) build_site "$@" ;;
  esac
}
