package io.sluice.samples.compare;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program that a measurement needs. */
enum Program {
    SLUICE("sluice", List.of(), List.of()),
    /** Plain C: a package has it built, else it is built from the sources in this package's resources. */
    CEILING(BaselineBuild.compiler(), List.of("gcc", "libc6-dev"), List.of(BaselineBuild.compiler(), "--version")),
    /** The same for ranks that copy between shared memory. */
    EXPERTS(BaselineBuild.compiler(), List.of("gcc", "libc6-dev"), List.of()),
    /** The same for a GPU, with the CUDA driver of the machine. */
    GPU(BaselineBuild.compiler(), List.of("gcc", "libc6-dev"), List.of()),
    /** The same program where there are two GPUs. */
    GPU_PAIR(BaselineBuild.compiler(), List.of("gcc", "libc6-dev"), List.of()),
    /** NCCL of the machine between two GPUs, by the same program. */
    NCCL(BaselineBuild.compiler(), List.of("gcc", "libc6-dev"), List.of()),
    /** PyTorch with two GPUs, which is asked for its figures by scripts. */
    TORCH("python3", List.of("python3"), List.of()),
    UCX("ucx_perftest", List.of("ucx-utils"), List.of("ucx_info", "-v")),
    /** UCX's Java binding, which comes with this program, on the machine's UCX. */
    JUCX(UcxLibrary.NAME, List.of("libucx0"), List.of()),
    /** Open MPI, by a small program of ours. */
    OPENMPI("mpirun.openmpi", List.of("openmpi-bin", "libopenmpi-dev"), List.of("mpirun.openmpi", "--version")),
    /** The same for dispatch and combine of experts. */
    OPENMPI_EXPERTS(OPENMPI.executable, OPENMPI.packages, List.of()),
    /** The same of MPICH. */
    MPICH("mpiexec.hydra", List.of("mpich", "libmpich-dev"), List.of("mpiexec.hydra", "--version")),
    /** The same of gloo. */
    GLOO("libgloo", List.of("libgloo-dev", "g++"), List.of()),
    /** A stream of bytes. */
    IPERF3("iperf3", List.of("iperf3"), List.of("iperf3", "--version"));

    private final String executable;
    private final List<String> packages;
    private final List<String> versionQuestion;

    Program(String executable, List<String> packages, List<String> versionQuestion) {
        this.executable = executable;
        this.packages = packages;
        this.versionQuestion = versionQuestion;
    }

    String executable() {
        return executable;
    }

    List<String> packages() {
        return packages;
    }

    /** The C program that it is, if it is one of ours. */
    @Nullable
    CProgram source() {
        return switch (this) {
            case CEILING -> CProgram.CEILING;
            case EXPERTS -> CProgram.EXPERTS;
            case GPU, GPU_PAIR, NCCL -> CProgram.GPU;
            case SLUICE, UCX, JUCX, IPERF3, TORCH, OPENMPI, OPENMPI_EXPERTS, MPICH, GLOO -> null;
        };
    }

    /** The command line that makes it tell its version; empty for one that tells none. */
    List<String> versionQuestion() {
        return this == CEILING && CProgram.CEILING.packaged() != null ? List.of() : versionQuestion;
    }

    boolean isPresent() {
        return switch (this) {
            case SLUICE -> true;
            case CEILING -> BaselineBuild.isPossible(CProgram.CEILING);
            case EXPERTS -> BaselineBuild.isPossible(CProgram.EXPERTS);
            case GPU, GPU_PAIR, NCCL -> BaselineBuild.isPossible(CProgram.GPU);
            case OPENMPI_EXPERTS -> CollectiveDriver.OPENMPI_EXPERTS.isPresent();
            case OPENMPI -> CollectiveDriver.OPENMPI.isPresent();
            case MPICH -> CollectiveDriver.MPICH.isPresent();
            case GLOO -> CollectiveDriver.GLOO.isPresent();
            case JUCX -> UcxLibrary.isPresent();
            case UCX, IPERF3, TORCH -> SearchPath.find(executable) != null;
        };
    }
}
