package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Loses and delays packets that leave by a softRoCE device, until it is closed. */
final class LossyLink implements AutoCloseable {
    private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");

    private final SoftRoceInterface network;

    private LossyLink(SoftRoceInterface network) {
        this.network = network;
    }

    /** Opens a link with a delay and a loss as {@code tc} takes them. */
    static LossyLink of(String device, String delay, String loss) {
        LossyLink link = new LossyLink(SoftRoceInterface.below(device));
        SoftRoceInterface.run(
                "tc", "qdisc", "replace", "dev", link.network.name(), "root", "netem", "delay", delay, "loss", loss);
        return link;
    }

    /** How many packets it has lost. */
    long lost() {
        String counters = SoftRoceInterface.run("tc", "-s", "qdisc", "show", "dev", network.name());
        Matcher dropped = DROPPED.matcher(counters);
        assertThat(dropped.find()).as("what tc says: %s", counters).isTrue();
        return Long.parseLong(dropped.group(1));
    }

    @Override
    public void close() {
        SoftRoceInterface.run("tc", "qdisc", "delete", "dev", network.name(), "root");
    }
}
