package io.sluice.engine.flow;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RemoteKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The work requests to be posted on one path, and the limits that the path sets for them. Requests refused by the
 * endpoint may return their credits, and are offered again once they have credits. On the poller's thread.
 */
final class PathQueue {
    private static final int BATCH = 64;
    private static final MemoryKind[] KINDS = MemoryKind.values();

    private final int index;
    private final int transport;
    private final Endpoint endpoint;
    private final FlowCounters counters;
    private final @Nullable PageLists lists;
    private final int gatherElements;
    // for each kind of local memory
    private final Chunker[] chunkers = new Chunker[KINDS.length];
    // elements of no more bytes are one chunk in memory of any kind
    private final long unsplit;
    private final boolean canCarrySignals;
    private final Chunk[] batch = new Chunk[BATCH];
    // from here to the end they wait without credits, and before that with them
    private int bare;
    private int from;
    private int to;
    private boolean refused;

    PathQueue(int index, FlowPath path, long windowBytes) {
        this.index = index;
        this.transport = path.transport();
        this.endpoint = path.endpoint();
        this.counters = path.counters().transport();
        this.lists = endpoint instanceof PageLists taking ? taking : null;
        Capabilities capabilities = path.capabilities();
        this.gatherElements = capabilities.gatherElements();
        Arrays.setAll(
                chunkers,
                kind -> new Chunker(
                        windowBytes, capabilities.largestMessage(), capabilities.preferredChunk(KINDS[kind])));
        this.unsplit = Arrays.stream(chunkers)
                .mapToLong(chunker -> chunker.chunk(0))
                .min()
                .orElseThrow();
        this.canCarrySignals = capabilities.writeWithSignal();
    }

    int index() {
        return index;
    }

    /** Returns the transport's position among the engine's transports. */
    int transport() {
        return transport;
    }

    /** Returns the chunker for a kind of local memory. */
    Chunker chunker(MemoryKind kind) {
        return chunkers[kind.ordinal()];
    }

    /** Returns the length of the next chunk of an element. */
    long chunk(@Nullable LeasedMemory memory, long position, long length) {
        if (length <= unsplit) {
            return length - position;
        }
        MemoryKind kind = memory == null ? MemoryKind.HOST : memory.memory().kind();
        return Math.min(length - position, chunker(kind).chunk(length));
    }

    boolean canCarrySignals() {
        return canCarrySignals;
    }

    /** Whether the endpoint accepts pages anywhere in a region in one request. */
    boolean takesPages(RemoteKey remote) {
        PageLists taking = lists;
        return taking != null && taking.takesPages(remote);
    }

    /** Returns the most pieces of local memory of a request. */
    int gatherElements() {
        return gatherElements;
    }

    /** Adds one with its credits; there is room, and none waits without credits. */
    void add(Chunk chunk) {
        batch[to++] = chunk;
        bare = to;
    }

    boolean isEmpty() {
        return from == to;
    }

    boolean isFull() {
        return to == BATCH;
    }

    /** Offers what holds credits; false if the endpoint left some of it. */
    boolean post(EventLoop loop) {
        while (from < bare) {
            // before: what completes inside the call has been posted
            offer(loop);
            // before: the endpoint may say inside the call that it has room again
            refused = true;
            int accepted = endpoint.post(batch, from, bare - from);
            from += accepted;
            counters.add(FlowCounter.CHUNKS, accepted);
            if (accepted == 0) {
                return false;
            }
            refused = false;
        }
        if (bare == to) {
            empty();
        }
        return true;
    }

    private void empty() {
        from = 0;
        bare = 0;
        to = 0;
    }

    /** Whether the endpoint had no room when it was last asked, and has not said since that it has. */
    boolean isRefused() {
        return refused;
    }

    /** The endpoint says that it has room again. */
    void hasRoom() {
        refused = false;
    }

    /** The first that waits without credits, or null. */
    @Nullable
    Chunk bare() {
        return bare < to ? batch[bare] : null;
    }

    /** The first of those holds its credits again. */
    void credited() {
        bare++;
    }

    /** Returns the credits of refused requests; false if they hold none. */
    boolean giveBack(ConnectionWindow window) {
        boolean some = false;
        for (int i = from; i < to; i++) {
            some |= batch[i].giveBack(window);
        }
        bare = from;
        return some;
    }

    /** Reads the clock once for all completions from here on. */
    private void offer(EventLoop loop) {
        loop.beginBatch();
        long at = loop.batchTime();
        for (int i = from; i < bare; i++) {
            batch[i].offered(at);
        }
    }

    /** Returns the next request that the closed endpoint never accepted; only while {@link #hasOffered()}. */
    Chunk takeOffered() {
        return batch[from++];
    }

    /** Whether there are requests that were not accepted. */
    boolean hasOffered() {
        if (from < to) {
            return true;
        }
        empty();
        return false;
    }
}
