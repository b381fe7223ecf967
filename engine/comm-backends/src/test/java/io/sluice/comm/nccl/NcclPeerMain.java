package io.sluice.comm.nccl;

import io.sluice.comm.StandIns;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.HexFormat;

/** A process with memory of a GPU, which prints its address and the descriptor, and waits until its input ends. */
final class NcclPeerMain {
    static final int BYTES = 8 << 20;

    private NcclPeerMain() {}

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftNccl.use(StandIns.NCCL);
        SoftNcclTransport transport = new SoftNcclTransport();
        try (TransferEngine engine =
                TransferEngine.open(transport.targetOptions().build())) {
            MemoryRegion region = transport.memory().allocate(engine, BYTES, RegionOptions.readWrite());
            System.out.println("READY " + engine.address() + " "
                    + HexFormat.of().formatHex(region.descriptor().toBytes()));
            while (System.in.read() >= 0) {
                // it is killed before
            }
        }
    }
}
