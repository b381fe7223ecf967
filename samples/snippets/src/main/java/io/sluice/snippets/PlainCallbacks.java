package io.sluice.snippets;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/**
 * The engine without a reactive library: a transfer is prepared once and started again and again, and its callback starts
 * the next. Nothing is allocated from one to the next. The callback runs on a poller, or inside the call: it must not block.
 *
 * <p>Run: {@code ./sluice snippet PlainCallbacks}
 */
public final class PlainCallbacks {
    private static final int WRITES = 10_000;

    private PlainCallbacks() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (TransferEngine owner = TransferEngine.open();
                TransferEngine writer = TransferEngine.open()) {
            MemoryRegion target = owner.allocate(4096, RegionOptions.readWrite());
            MemoryRegion source = writer.allocate(4096, RegionOptions.local());
            Connection connection = writer.connect(owner.address()).join();
            RemoteRegion remote = connection.attach(target.descriptor()).join();

            CountDownLatch done = new CountDownLatch(1);
            LongAdder failures = new LongAdder();
            int[] left = {WRITES};
            connection
                    .prepared()
                    .write(source, 0, remote, 0, 4096, TransferOptions.defaults(), (transfer, error) -> {
                        if (error != null) {
                            failures.increment();
                        }
                        if (--left[0] > 0) {
                            ((PreparedTransfer) transfer).start();
                        } else {
                            done.countDown();
                        }
                    })
                    .start();
            done.await();
            System.out.println(WRITES + " writes, " + failures + " failures");
        }
    }
}
