package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.comm.StandIns;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process a rank, as on machines with GPUs: all back ends one after another, and memory of NVSHMEM that GPUs store into. */
class BackendRanksTest {
    private static final int RANKS = 2;

    @TempDir
    Path folder;

    @Tag("soak")
    @Test
    void processesGetTheSameBitsOverAllBackEnds() throws IOException {
        List<Process> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < RANKS; rank++) {
                ranks.add(start(rank));
            }
            for (int rank = 0; rank < RANKS; rank++) {
                int status = Patience.exit(ranks.get(rank));
                assertThat(Files.readString(output(rank)))
                        .as("status %d", status)
                        .contains("rank " + rank + " over nccl:")
                        .contains("rank " + rank + " over nvshmem:")
                        .contains("all ranks' GPUs store into each other's memory")
                        .contains("rank " + rank + ": equal bits");
                assertThat(status).isZero();
            }
        } finally {
            ranks.forEach(Process::destroyForcibly);
        }
    }

    private Path output(int rank) {
        return folder.resolve("rank" + rank);
    }

    private Process start(int rank) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dsluice.cuda.library=" + System.getProperty("sluice.cuda.library"),
                "-Dsluice.nccl.library=" + StandIns.NCCL,
                "-Dsluice.nvshmem.library=" + StandIns.NVSHMEM,
                "-Dsluice.nvshmem.gpu-bytes=8192",
                "-Dbackends=sluice,nccl,nvshmem",
                "-Drounds=3"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                BackendRanks.class.getName(),
                Integer.toString(rank),
                Integer.toString(RANKS),
                folder.resolve("address").toString()));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output(rank).toFile())
                .start();
    }
}
