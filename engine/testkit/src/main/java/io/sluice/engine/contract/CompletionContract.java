package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The meaning of success, seen from another process. */
interface CompletionContract extends Contract {
    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void completedWriteIsSeenByTheTargetsProcess() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        long bytes = ContractProfile.of(transport()).comparedBytes();
        Random random = ContractProfile.random("completedWriteIsSeenByTheTargetsProcess");
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion source = allocate(engine, bytes, RegionOptions.local());
            for (int round = 0; round < ContractProfile.of(transport()).comparedRounds(); round++) {
                BytePattern.fill(bytesOf(source), round);
                long length = round % 4 == 0 ? bytes : 1 + random.nextInt(100_000);
                long from = random.nextInt((int) (bytes - length) + 1);
                long to = random.nextInt((int) (bytes - length) + 1);
                TerminalSignal signal = new TerminalSignal();
                connection.write(source, from, remote, to, length, TransferOptions.defaults(), signal);
                signal.awaitSuccess();
                if (!transport().visibleOnCompletion()) {
                    TerminalSignal visible = new TerminalSignal();
                    connection.notify(new byte[0], TransferOptions.defaults(), visible);
                    visible.awaitSuccess();
                }
                assertThat(peer.checksum(0, to, length))
                        .isEqualTo(BytePattern.checksum(bytesOf(source).slice(from, length)));
            }
            assertThat(peer.otherOutput())
                    .as("the peer's virtual machine has nothing to complain of")
                    .noneMatch(line -> line.contains("in native method"));
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void completedReadIsFinal() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        long bytes = ContractProfile.of(transport()).comparedBytes();
        Random random = ContractProfile.random("completedReadIsFinal");
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion sink = allocate(engine, bytes, RegionOptions.local());
            for (int round = 0; round < ContractProfile.of(transport()).comparedRounds(); round++) {
                peer.fill(0, round);
                long length = round % 4 == 0 ? bytes : 1 + random.nextInt(100_000);
                long from = random.nextInt((int) (bytes - length) + 1);
                long to = random.nextInt((int) (bytes - length) + 1);
                TerminalSignal signal = new TerminalSignal();
                connection.read(sink, to, remote, from, length, TransferOptions.defaults(), signal);
                signal.awaitSuccess();
                BytePattern.assertFilled(bytesOf(sink).slice(to, length), round, from);
            }
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void peerProcessWritesBack() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        long bytes = ContractProfile.of(transport()).comparedBytes() / 4 + 1;
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            await(engine.connect(peer.address()));
            MemoryRegion served = allocate(engine, bytes, RegionOptions.readWrite());
            peer.fill(0, 31);
            peer.command("write " + HexFormat.of().formatHex(served.descriptor().toBytes()) + " 0 1");
            BytePattern.assertFilled(bytesOf(served), 31);
        }
    }
}
