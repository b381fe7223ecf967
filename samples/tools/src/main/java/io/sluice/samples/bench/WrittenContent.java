package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What writes move: sources here, targets on the serving side, which are read back over another connection. */
final class WrittenContent implements Content {

    private static final long CHUNK_BYTES = 4L << 20;

    private final Layout layout;
    private final int iov;
    private final MemoryRegion local;
    private final SideChannel side;
    private final MemoryRegion copy;
    private long rounds;

    WrittenContent(TransferEngine engine, Layout layout, int iov, MemoryRegion local, SideChannel side) {
        this.layout = layout;
        this.iov = iov;
        this.local = local;
        this.side = side;
        this.copy = engine.allocate(CHUNK_BYTES, RegionOptions.local());
        renew();
    }

    @Override
    public void renew() {
        rounds++;
        Pattern.fill(local.segment(), rounds << 32);
    }

    @Override
    public long differing(List<Long> submitted) {
        long differing = 0;
        for (int i = 0; i < submitted.size(); i++) {
            MemorySegment sources = local.segment().asSlice(i * layout.sourceBytes(), layout.sourceBytes());
            RangeCheck check = new RangeCheck(layout, sources);
            compare(check, i * layout.targetBytes(), layout.targetBytes(submitted.get(i), iov));
            differing += check.differing();
        }
        return differing;
    }

    private void compare(RangeCheck check, long base, long bytes) {
        RemoteRegion remote = side.remote();
        long count;
        for (long at = 0; at < bytes; at += count) {
            count = Math.min(CHUNK_BYTES, bytes - at);
            side.read(copy, remote, base + at, count);
            check.compare(copy.segment().asSlice(0, count), at);
        }
    }

    @Override
    public void close() {
        copy.close();
    }
}
