package io.sluice.samples.compare;

import java.util.Locale;
import java.util.function.Function;

/** The other side of a comparison with transfers. */
enum Peer {
    /** A stream of bytes that only the kernel acknowledges; for writes. */
    IPERF3(ours -> new IperfStream(Math.min(ours.size(), IperfStream.MOST_BYTES))),
    /** UCX with its defaults, over tcp or shared memory. For a vectored transfer as many single ones are outstanding. */
    UCX(ours -> UcxTransfers.like(
            ours, ours.route() == Route.TCP ? UcxTransfers.Transports.TCP : UcxTransfers.Transports.SHARED_MEMORY)),
    /** UCX through its Java binding, over tcp with its defaults. */
    JUCX(JucxTransfers::like),
    /** UCX over tcp with longer segments than its defaults. */
    UCX_TUNED(ours -> UcxTransfers.like(ours, UcxTransfers.Transports.TCP_TUNED)),
    /** Plain C: for tcp over a socket, a system call for each frame; for shm copies between two shared mappings. */
    CEILING(ours -> ours.route() == Route.SHM
            ? BaselineRun.sharedCopies(ours.size(), ours.size())
            : BaselineRun.transfers(ours.operation(), ours.size(), ours.inflight())),
    /** The same program over a socket with one transfer in flight. */
    CEILING_ALONE(ours -> BaselineRun.transfers(ours.operation(), ours.size(), 1)),
    /** Plain C that spins on a socket; for the latency of 8 bytes. */
    PING_PONG(ours -> BaselineRun.pingPong()),
    /** The same with both sides asleep in the kernel. */
    BLOCKING_PING_PONG(ours -> BaselineRun.blockingPingPong()),
    /**
     * {@code memcpy}. For tcp it goes through private memory, within the processor's cache for sizes that fit, else
     * beyond it. For shm it copies between the same memory as shm does.
     */
    MEMCPY(Peer::memcpy),
    /** Plain C that writes into another process's memory with one system call; for cross-memory attach. */
    PROCESS_VM_WRITEV(ours -> BaselineRun.crossMemoryWrites(ours.size())),
    /** Plain C on the CUDA driver: one copy to another process's GPU. */
    GPU_COPY(ours -> GpuRun.copy(ours.size(), ours.inflight())),
    /** One copy between pinned memory and a GPU in one process. */
    GPU_PINNED_COPY(ours -> ours.operation().isRead()
            ? GpuRun.fromDevice(ours.size(), ours.inflight())
            : GpuRun.toDevice(ours.size(), ours.inflight())),
    /** The pages of a list to another process's GPU by a copy each. */
    GPU_COPIES(ours -> pages(GpuRun.Way.COPIES, ours)),
    /** The same by the driver's one call for many copies. */
    GPU_BATCH(ours -> pages(GpuRun.Way.BATCH, ours)),
    /** The same by Sluice's kernel. */
    GPU_KERNEL(ours -> pages(GpuRun.Way.KERNEL, ours)),
    /** Send and receive of NCCL between two GPUs. */
    NCCL(ours -> GpuRun.nccl(ours.size(), ours.inflight())),
    /** The same by PyTorch, which has NCCL do it. */
    TORCH(ours -> new TorchRun(ours.size(), ours.inflight()));

    private static final long CACHED_BYTES = 1L << 20;
    private static final long UNCACHED_SPAN_BYTES = 256L << 20;

    private final Function<Transfers, Measurement> measurement;

    Peer(Function<Transfers, Measurement> measurement) {
        this.measurement = measurement;
    }

    private static Measurement memcpy(Transfers ours) {
        long size = ours.size();
        return ours.route() == Route.TCP
                ? BaselineRun.privateCopies(size, size <= CACHED_BYTES ? size : UNCACHED_SPAN_BYTES)
                : new SameMemoryCopy(size);
    }

    private static Measurement pages(GpuRun.Way way, Transfers ours) {
        return GpuRun.pages(way, ours.size(), ours.iov(), Math.ceilDiv(ours.inflight(), ours.iov()));
    }

    Measurement measurement(Transfers ours) {
        return measurement.apply(ours);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
