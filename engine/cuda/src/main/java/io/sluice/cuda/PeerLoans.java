package io.sluice.cuda;

import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.transport.EventLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peer's regions that kernels of the user's reach. Each counts as a request of its key under way, so that the memory stays mapped;
 * when the key ends it is closed, and ends with the launches that were submitted. On the loop's thread.
 */
final class PeerLoans {
    private final EventLoop loop;
    private final Gpus gpus;
    private final Consumer<CudaRemoteKey> finish;
    private final List<Wanted> wanted = new ArrayList<>();
    private final Map<CudaRemoteKey, List<MappedRegion>> lent = new HashMap<>();

    /**
     * Makes it without regions.
     *
     * @param finish given a key that has ended, once nothing of it is under way
     */
    PeerLoans(EventLoop loop, Gpus gpus, Consumer<CudaRemoteKey> finish) {
        this.loop = loop;
        this.gpus = gpus;
        this.finish = finish;
    }

    private record Wanted(CudaRemoteKey key, int ordinal, CompletableFuture<MappedRegion> result) {}

    /** Lends a region once it is mapped for a GPU, or says why it is not. */
    void lend(CudaRemoteKey key, int ordinal, CompletableFuture<MappedRegion> result) {
        wanted.add(new Wanted(key, ordinal, result));
        goOn();
    }

    /** Memory may have been mapped, or refused. */
    void goOn() {
        for (Wanted each : List.copyOf(wanted)) {
            PeerAllocation allocation = each.key().allocation();
            CudaException refusal = allocation.refusal(each.ordinal());
            boolean isGone = each.key().hasEnded() || !allocation.isAlive();
            boolean isOver = isGone || refusal != null || allocation.isMapped(each.ordinal());
            if (isOver && wanted.remove(each)) {
                end(each, isGone, refusal);
            }
        }
    }

    private void end(Wanted of, boolean isGone, @Nullable CudaException refusal) {
        if (isGone) {
            of.result()
                    .completeExceptionally(new StaleDescriptorException(
                            "the region is no longer attached, or its memory was freed: attach it again"));
        } else if (refusal != null) {
            of.result().completeExceptionally(refusal);
        } else {
            MappedRegion region = lend(of.key(), of.ordinal());
            if (!of.result().complete(region)) {
                region.close();
            }
        }
    }

    private MappedRegion lend(CudaRemoteKey key, int ordinal) {
        CompletableFuture<MappedRegion> self = new CompletableFuture<>();
        MappedRegion region = new MappedRegion(
                gpus.id(ordinal),
                key.address(ordinal),
                key.length(),
                "a peer's region mapped for " + gpus.id(ordinal),
                () -> loop.execute(() -> returned(key, self.join())));
        self.complete(region);
        key.posted();
        lent.computeIfAbsent(key, any -> new ArrayList<>()).add(region);
        return region;
    }

    private void returned(CudaRemoteKey key, MappedRegion region) {
        List<MappedRegion> left = lent.get(key);
        if (left != null) {
            left.remove(region);
        }
        if (key.completed()) {
            finish.accept(key);
        }
    }

    /** A key has ended. */
    void ended(CudaRemoteKey key) {
        List<MappedRegion> of = lent.remove(key);
        if (of != null) {
            of.forEach(MappedRegion::close);
        }
        goOn();
    }
}
