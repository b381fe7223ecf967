package io.sluice.samples.compare;

import io.sluice.samples.bench.BenchCollective;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Another library's collectives, by a small program of ours; and how it moves bytes. */
enum CollectivePeer {
    /** Open MPI by shared memory of its own. */
    OPENMPI_VADER(CollectiveDriver.OPENMPI, Route.SHM, "--mca pml ob1 --mca btl self,vader"),
    /** Open MPI by UCX over shared memory. */
    OPENMPI_UCX(
            CollectiveDriver.OPENMPI,
            Route.SHM,
            "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any -x UCX_TLS=posix,sysv,cma,self"),
    /** MPICH, which chooses. */
    MPICH(CollectiveDriver.MPICH, Route.SHM, ""),
    /** Open MPI by its own sockets. */
    OPENMPI_TCP(
            CollectiveDriver.OPENMPI,
            Route.TCP,
            "--mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include 127.0.0.1/8"),
    /** Open MPI by UCX's sockets. */
    OPENMPI_UCX_TCP(
            CollectiveDriver.OPENMPI,
            Route.TCP,
            "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any -x UCX_TLS=tcp,self -x UCX_NET_DEVICES=lo"),
    /** gloo's ring, which knows sockets alone. */
    GLOO_RING(CollectiveDriver.GLOO, Route.TCP, "allreduce-ring"),
    /** gloo's halving and doubling, in place. */
    GLOO_HALVING(CollectiveDriver.GLOO, Route.TCP, "allreduce-halving");

    private final CollectiveDriver driver;
    private final Route route;
    private final String options;

    CollectivePeer(CollectiveDriver driver, Route route, String options) {
        this.driver = driver;
        this.route = route;
        this.options = options;
    }

    CollectiveDriver driver() {
        return driver;
    }

    /** Whether it can do the same. */
    boolean serves(Collectives collectives) {
        return collectives.route() == route && (this != GLOO_HALVING || collectives.size() > 0);
    }

    /** The command line. */
    List<String> command(Collectives collectives, BenchEnvironment environment) {
        Timing timing = environment.timing();
        List<String> command = new ArrayList<>();
        String ranks = Integer.toString(collectives.ranks());
        boolean barrier = collectives.collective() == BenchCollective.BARRIER;
        String mode = collectives.collective().toString();
        String program = environment.folder().resolve(driver.fileName()).toString();
        switch (driver) {
            case OPENMPI, OPENMPI_EXPERTS ->
                command.addAll(openMpi(collectives.ranks(), options, program, environment));
            case MPICH -> command.addAll(List.of(driver.executable(), "-n", ranks, program));
            case GLOO -> {
                command.addAll(List.of(program, ranks));
                mode = barrier ? mode : options;
            }
        }
        command.addAll(List.of(
                mode,
                Long.toString(collectives.size()),
                environment.pinning().processorList(),
                Long.toString(timing.warmup().toMillis()),
                Long.toString(timing.duration().toMillis())));
        return command;
    }

    /** The command that starts a program's ranks by Open MPI; ranks that share a processor yield it when idle. */
    static List<String> openMpi(int ranks, String options, String program, BenchEnvironment environment) {
        boolean crowded = ranks > environment.pinning().processors().cardinality();
        List<String> command = new ArrayList<>(List.of((CollectiveDriver.OPENMPI.executable()
                        + " --allow-run-as-root --oversubscribe --bind-to none -np " + ranks + " " + options
                        + (crowded ? " --mca mpi_yield_when_idle 1" : ""))
                .split(" ")));
        command.add(program);
        return command;
    }

    String options() {
        return options;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
