package io.sluice.samples.compare;

import java.util.List;

/** A program that a measurement needs. */
enum Program {
    /** This one. */
    SLUICE("sluice", List.of()),
    /** Plain C, built from the sources in this package's resources. */
    CEILING(CeilingBuild.compiler(), List.of("gcc", "libc6-dev")),
    /** UCX's own benchmark. */
    UCX("ucx_perftest", List.of("ucx-utils")),
    /** A stream of bytes. */
    IPERF3("iperf3", List.of("iperf3"));

    private final String executable;
    private final List<String> packages;

    Program(String executable, List<String> packages) {
        this.executable = executable;
        this.packages = packages;
    }

    /** What it takes on the search path. */
    String executable() {
        return executable;
    }

    /** The Debian packages that bring it. */
    List<String> packages() {
        return packages;
    }

    /** Whether it is here. */
    boolean isPresent() {
        return switch (this) {
            case SLUICE -> true;
            case CEILING -> CeilingBuild.isPossible();
            case UCX, IPERF3 -> SearchPath.find(executable) != null;
        };
    }
}
