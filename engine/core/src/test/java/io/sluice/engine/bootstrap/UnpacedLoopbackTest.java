package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.sluice.engine.KernelSockets;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No socket between two processes of one host is paced, under any default of the system. */
class UnpacedLoopbackTest {
    private static final String UNPACED = "reno";

    @Test
    void allSocketsOfAConnectionOverLoopbackAreUnpaced() throws Exception {
        assumeFalse(systemDefault().equals(UNPACED), "the system paces nothing by itself");
        Set<Integer> before = tcpSockets();
        try (LinkedEngines engines = new LinkedEngines(options -> {}, options -> options.listen("127.0.0.1", 0))) {
            Set<Integer> opened = tcpSockets();
            opened.removeAll(before);
            List<String> sides = new ArrayList<>();
            int port = Objects.requireNonNull(engines.target().address()).port();
            for (int descriptor : opened) {
                sides.add(Sockets.localPort(descriptor) == port ? "target" : "initiator");
                assertThat(KernelSockets.congestionControl(descriptor))
                        .as("of socket " + descriptor)
                        .isEqualTo(UNPACED);
            }
            // the control channel and a lane on each side, and the target's listener
            assertThat(sides).filteredOn("initiator"::equals).hasSizeGreaterThanOrEqualTo(2);
            assertThat(sides).filteredOn("target"::equals).hasSizeGreaterThanOrEqualTo(3);
        }
    }

    private static String systemDefault() {
        int descriptor = Sockets.openStream(false);
        try {
            return KernelSockets.congestionControl(descriptor);
        } finally {
            Sockets.close(descriptor);
        }
    }

    private static Set<Integer> tcpSockets() throws IOException {
        Set<Integer> found = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path link : all.toList()) {
                int descriptor = Integer.parseInt(link.getFileName().toString());
                if (!KernelSockets.congestionControl(descriptor).isEmpty()) {
                    found.add(descriptor);
                }
            }
        }
        return found;
    }
}
