package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A network namespace of this host beside the own one, with a cable between them. It takes root and iproute2. */
final class NetworkNamespace implements AutoCloseable {
    /** This side's address on the cable. */
    static final String ADDRESS = "198.18.77.1";

    private static final String NETWORK = "/30";
    private static final String OTHER_ADDRESS = "198.18.77.2";

    private final String name = "sluice-" + ProcessHandle.current().pid();
    private final String cable = "slc" + ProcessHandle.current().pid() % 100_000_000;

    private NetworkNamespace() {}

    /** Whether one can be made here. */
    static boolean isPossible() {
        try (NetworkNamespace tried = new NetworkNamespace()) {
            return tried.make();
        }
    }

    static NetworkNamespace open() {
        NetworkNamespace made = new NetworkNamespace();
        assertThat(made.make()).isTrue();
        return made;
    }

    private boolean make() {
        return run("ip", "netns", "add", name)
                && run("ip", "link", "add", cable, "type", "veth", "peer", "name", "peer0", "netns", name)
                && run("ip", "address", "add", ADDRESS + NETWORK, "dev", cable)
                && run("ip", "link", "set", cable, "up")
                && run("ip", "-n", name, "address", "add", OTHER_ADDRESS + NETWORK, "dev", "peer0")
                && run("ip", "-n", name, "link", "set", "peer0", "up")
                && run("ip", "-n", name, "link", "set", "lo", "up");
    }

    /** Makes what leaves by the cable late and lossy; false where the kernel has no {@code netem}. */
    boolean impair(int delayMillis, int lossPercent) {
        return run(
                "tc",
                "qdisc",
                "add",
                "dev",
                cable,
                "root",
                "netem",
                "delay",
                delayMillis + "ms",
                "loss",
                lossPercent + "%");
    }

    /** How to start a program in it. */
    List<String> command() {
        return List.of("ip", "netns", "exec", name);
    }

    private static boolean run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException noSuchProgram) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        run("ip", "link", "delete", cable);
        run("ip", "netns", "delete", name);
    }
}
