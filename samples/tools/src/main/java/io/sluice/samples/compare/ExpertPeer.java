package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Another way to dispatch and combine the same elements, by a small program of ours in C. */
enum ExpertPeer {
    /** As many processes copy at once between shared memory; they quantise, and add, in plain C. */
    COPIES(Program.EXPERTS, Route.SHM),
    /** Open MPI by shared memory of its own. */
    OPENMPI_VADER(Program.OPENMPI_EXPERTS, Route.SHM),
    /** Open MPI by its own sockets. */
    OPENMPI_TCP(Program.OPENMPI_EXPERTS, Route.TCP);

    private final Program program;
    private final Route route;

    ExpertPeer(Program program, Route route) {
        this.program = program;
        this.route = route;
    }

    Program program() {
        return program;
    }

    Route route() {
        return route;
    }

    /** The command line. */
    List<String> command(Experts experts, BenchEnvironment environment) {
        Timing timing = environment.timing();
        List<String> command = new ArrayList<>(
                switch (this) {
                    case COPIES -> List.of(environment.program(CProgram.EXPERTS), Integer.toString(experts.ranks()));
                    case OPENMPI_VADER -> openMpi(experts, CollectivePeer.OPENMPI_VADER, environment);
                    case OPENMPI_TCP -> openMpi(experts, CollectivePeer.OPENMPI_TCP, environment);
                });
        command.addAll(List.of(
                experts.mode().toString(),
                experts.format(),
                Integer.toString(experts.tokens()),
                Integer.toString(Experts.HIDDEN),
                Integer.toString(Experts.TOP_K),
                Integer.toString(Experts.TOTAL),
                environment.pinning().processorList(),
                Long.toString(timing.warmup().toMillis()),
                Long.toString(timing.duration().toMillis())));
        return command;
    }

    private static List<String> openMpi(Experts experts, CollectivePeer like, BenchEnvironment environment) {
        String program = environment
                .folder()
                .resolve(CollectiveDriver.OPENMPI_EXPERTS.fileName())
                .toString();
        return CollectivePeer.openMpi(experts.ranks(), like.options(), program, environment);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
