package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;

/**
 * A process whose GPUs do not reach each other. It writes to a region of the other GPU, then to one of the same, and
 * says by which path.
 */
final class UnlinkedGpusMain {
    private static final int BYTES = 4096;

    private UnlinkedGpusMain() {}

    private static TransferEngine engine() {
        return TransferEngine.open(
                PatientOptions.builder().transports(List.of("shm", "cuda")).build());
    }

    private static MemoryRegion region(TransferEngine engine, int ordinal) {
        return engine.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) {
        try (TransferEngine initiator = engine();
                TransferEngine target = engine()) {
            MemoryRegion local = region(initiator, 0);
            MemoryRegion far = region(target, 1);
            MemoryRegion near = region(target, 0);
            Connection connection = Patience.await(initiator.connect(target.address()));
            SoftGpu.write(0, local.memory().address(), new byte[] {1, 2, 3});
            for (int gpu = 1; gpu >= 0; gpu--) {
                MemoryRegion to = gpu == 1 ? far : near;
                RemoteRegion remote = Patience.await(connection.attach(to.descriptor()));
                ConnectionPath path = remote.path(MemoryKind.CUDA);
                System.out.println(path.transport() + ": " + path.reason());
                Patience.await(Ends.write(local, 0, remote, 0, BYTES));
                System.out.println(SoftGpu.read(gpu, to.memory().address(), 3)[2]);
            }
        }
    }
}
