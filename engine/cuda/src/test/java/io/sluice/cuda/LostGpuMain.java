package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A process whose GPUs fail in the middle of transfers, for good. It prints what holds then. */
final class LostGpuMain {
    private static final int BYTES = 1 << 20;

    private LostGpuMain() {}

    private static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) {
        SoftGpu.load();
        RegionOptions options = RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0));
        TransferEngine initiator = engine();
        TransferEngine target = engine();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = initiator.allocate(BYTES, options);
        MemoryRegion there = target.allocate(BYTES, options);
        RemoteRegion remote = Patience.await(connection.attach(there.descriptor()));
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        SoftGpu.failAfter(25);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            ends.add(Ends.write(local, 0, remote, 0, BYTES));
        }
        // the driver may take many in one call: more are needed then
        Patience.until("a write fails", () -> {
            CompletableFuture<Void> next = Ends.write(local, 0, remote, 0, BYTES);
            ends.add(next);
            return Patience.await(next.handle((done, error) -> error != null));
        });
        Patience.failure(ends.getLast(), SluiceException.class);
        ends.forEach(end -> Patience.await(end.handle((done, error) -> true)));
        System.out.println("LOST transfers typed");
        try {
            initiator.allocate(BYTES, options);
        } catch (RegistrationException e) {
            System.out.println("LOST allocation typed");
        }
        if (String.valueOf(Driver.unavailable()).contains("CUDA_ERROR_ILLEGAL_ADDRESS")) {
            System.out.println("LOST reason told");
        }
        Connection other = Patience.await(initiator.connect(target.address()));
        MemoryRegion host = target.allocate(BYTES, RegionOptions.readWrite());
        MemoryRegion source = initiator.allocate(BYTES, RegionOptions.local());
        Patience.await(Ends.write(source, 0, Patience.await(other.attach(host.descriptor())), 0, BYTES));
        System.out.println("LOST host goes on");
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
    }
}
