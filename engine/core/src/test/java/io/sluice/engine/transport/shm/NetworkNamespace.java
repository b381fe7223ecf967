package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A second network namespace of this host, with a cable to the own one. It takes root and iproute2. */
final class NetworkNamespace implements AutoCloseable {
    /** The address of this side of the cable. */
    static final String ADDRESS = "198.18.77.1";

    private static final String NETWORK = "/30";
    private static final String OTHER_ADDRESS = "198.18.77.2";
    private static final String OTHER_END = "peer0";
    private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");

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
                && run("ip", "link", "add", cable, "type", "veth", "peer", "name", OTHER_END, "netns", name)
                && run("ip", "address", "add", ADDRESS + NETWORK, "dev", cable)
                && run("ip", "link", "set", cable, "up")
                && run("ip", "-n", name, "address", "add", OTHER_ADDRESS + NETWORK, "dev", OTHER_END)
                && run("ip", "-n", name, "link", "set", OTHER_END, "up")
                && run("ip", "-n", name, "link", "set", "lo", "up");
    }

    /** Makes what passes the cable, either way, late and lossy; false where the kernel has no {@code netem}. */
    boolean impair(int delayMillis, int lossPercent) {
        return run(netem(cable, delayMillis, lossPercent)) && run(within(netem(OTHER_END, delayMillis, lossPercent)));
    }

    private static String[] netem(String device, int delayMillis, int lossPercent) {
        return new String[] {
            "tc",
            "qdisc",
            "replace",
            "dev",
            device,
            "root",
            "netem",
            "delay",
            delayMillis + "ms",
            "loss",
            lossPercent + "%"
        };
    }

    private String[] within(String... command) {
        return Stream.concat(command().stream(), Stream.of(command)).toArray(String[]::new);
    }

    /** How many packets that left this side {@link #impair} has lost. */
    long lost() {
        String counters = output("tc", "-s", "qdisc", "show", "dev", cable);
        Matcher dropped = DROPPED.matcher(counters);
        assertThat(dropped.find()).as("what tc says: %s", counters).isTrue();
        return Long.parseLong(dropped.group(1));
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
            return Patience.exit(process) == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }

    private static String output(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        run("ip", "link", "delete", cable);
        run("ip", "netns", "delete", name);
    }
}
