package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What reads move: sources on the serving side, written there over another connection; targets here. */
final class ReadContent implements Content {

    private final Layout layout;
    private final int iov;
    private final MemoryRegion local;
    private final MemoryRegion reference;

    ReadContent(TransferEngine engine, Layout layout, int iov, MemoryRegion local, int connections, SideChannel side) {
        this.layout = layout;
        this.iov = iov;
        this.local = local;
        this.reference =
                engine.allocate(Math.multiplyExact(layout.sourceBytes(), (long) connections), RegionOptions.local());
        Pattern.fill(reference.segment(), layout.size());
        side.write(reference, side.remote());
    }

    @Override
    public void renew() {
        // What was sent is never all zeros.
        local.segment().fill((byte) 0);
    }

    @Override
    public long differing(List<Long> submitted) {
        long differing = 0;
        for (int i = 0; i < submitted.size(); i++) {
            MemorySegment sources = reference.segment().asSlice(i * layout.sourceBytes(), layout.sourceBytes());
            RangeCheck check = new RangeCheck(layout, sources);
            long bytes = layout.targetBytes(submitted.get(i), iov);
            check.compare(local.segment().asSlice(i * layout.targetBytes(), bytes), 0);
            differing += check.differing();
        }
        return differing;
    }

    @Override
    public void close() {
        reference.close();
    }
}
