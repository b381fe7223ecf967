package io.sluice.samples.bench;

/** A rank's memory for one case on its GPU, which is filled from memory of the host, and compared there. */
final class GpuBuffers implements CollectiveCase.Buffers {
    private final GpuRank gpu;
    private final RankBuffers host;
    private final long sourceStride;
    private final long targetStride;

    GpuBuffers(GpuRank gpu, CollectivePlan plan, CollectivePlan.Case measured, RankBuffers host) {
        this.gpu = gpu;
        this.host = host;
        sourceStride = CollectivePlan.stride(source(plan, measured));
        targetStride = CollectivePlan.stride(target(plan, measured));
    }

    /** What any rank gives; places are the same on all ranks. */
    private static long source(CollectivePlan plan, CollectivePlan.Case measured) {
        long one = measured.count() * plan.type().bytes();
        return switch (measured.collective()) {
            case REDUCESCATTER, ALLTOALL -> one * plan.ranks();
            case BROADCAST, BARRIER -> 0;
            default -> one;
        };
    }

    private static long target(CollectivePlan plan, CollectivePlan.Case measured) {
        long one = measured.count() * plan.type().bytes();
        return switch (measured.collective()) {
            case ALLGATHER, ALLTOALL -> one * plan.ranks();
            case BARRIER -> 0;
            default -> one;
        };
    }

    /** What the slots of a case take. */
    static long sourceBytes(CollectivePlan plan, CollectivePlan.Case measured) {
        return plan.slots(measured) * CollectivePlan.stride(source(plan, measured));
    }

    static long targetBytes(CollectivePlan plan, CollectivePlan.Case measured) {
        return plan.slots(measured) * CollectivePlan.stride(target(plan, measured));
    }

    long sourceOffset(int slot) {
        return slot * sourceStride;
    }

    long targetOffset(int slot) {
        return slot * targetStride;
    }

    @Override
    public void fill(int slot, long operation) {
        host.fill(slot, operation);
        gpu.copies()
                .put(
                        host.source(),
                        host.sourceOffset(slot),
                        gpu.source().attached(),
                        sourceOffset(slot),
                        host.sourceBytes());
        gpu.copies()
                .put(
                        host.target(),
                        host.targetOffset(slot),
                        gpu.target().attached(),
                        targetOffset(slot),
                        host.targetBytes());
    }

    @Override
    public boolean isRight(int slot, long operation) {
        gpu.copies()
                .get(
                        host.source(),
                        host.sourceOffset(slot),
                        gpu.source().attached(),
                        sourceOffset(slot),
                        host.sourceBytes());
        gpu.copies()
                .get(
                        host.target(),
                        host.targetOffset(slot),
                        gpu.target().attached(),
                        targetOffset(slot),
                        host.targetBytes());
        return host.isRight(slot, operation);
    }
}
