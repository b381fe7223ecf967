package io.sluice.engine.transport.device;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection within the process. Attachments are entered in a table that both ends know; the initiator
 * looks it up when it attaches, has the region check each request, and copies.
 */
class DeviceEndpoint implements Endpoint, RegionAttachments {
    private static final UUID PROCESS = UUID.randomUUID();
    private static final int OFFER_BYTES = 16;
    // after so much the loop looks at its other connections
    private static final long BYTES_A_TURN = 16 << 20;

    private static final AtomicLong NEXT = new AtomicLong();
    private static final Map<Long, Entry> ATTACHED = new ConcurrentHashMap<>();

    private final EndpointContext context;
    private final Map<Long, Long> numbers = new HashMap<>();
    private final ArrayDeque<WorkRequest> accepted = new ArrayDeque<>();
    private boolean working;
    private volatile boolean open;

    DeviceEndpoint(EndpointContext context) {
        this.context = context;
    }

    /** A region that the peer has attached. */
    private static final class Entry {
        private final ExportedRegion region;
        private volatile boolean ended;

        Entry(ExportedRegion region) {
            this.region = region;
        }
    }

    private static final class Key extends RemoteKey {
        private final Entry entry;

        Key(long handle, RegionDescriptor descriptor, Entry entry) {
            super(handle, descriptor.key(), descriptor.epoch());
            this.entry = entry;
        }
    }

    @Override
    public byte[] offer() {
        return ByteBuffer.allocate(OFFER_BYTES)
                .putLong(PROCESS.getMostSignificantBits())
                .putLong(PROCESS.getLeastSignificantBits())
                .array();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (peerOffer.length != OFFER_BYTES || !ByteBuffer.wrap(peerOffer).equals(ByteBuffer.wrap(offer()))) {
            context.failed(new TransportUnavailableException("the peer's devices are another process's"));
            return;
        }
        open = true;
        context.established();
    }

    @Override
    public byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        long number = NEXT.incrementAndGet();
        ATTACHED.put(number, new Entry(region));
        numbers.put(handle, number);
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        if (keys.remaining() != Long.BYTES) {
            throw new ProtocolException("the keys of a device's region are " + keys.remaining() + " bytes");
        }
        Entry entry = ATTACHED.get(keys.getLong());
        if (entry == null) {
            throw new MemoryNotAccessibleException("the region has gone from the device");
        }
        return new Key(handle, descriptor, entry);
    }

    @Override
    public void exportEnded(long handle) {
        Long number = numbers.remove(handle);
        Entry entry = number == null ? null : ATTACHED.remove(number);
        if (entry != null) {
            entry.ended = true;
        }
    }

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        if (!open) {
            return 0;
        }
        accepted.addAll(Arrays.asList(batch).subList(from, from + count));
        if (!working) {
            working = true;
            context.loop().execute(this::work);
        }
        return count;
    }

    /** As a device does, it ends nothing within the call that posts it. */
    private void work() {
        long bytesLeft = BYTES_A_TURN;
        while (bytesLeft > 0 && !accepted.isEmpty()) {
            WorkRequest request = accepted.remove();
            CompletionStatus status = execute(request);
            if (status == CompletionStatus.SUCCESS) {
                context.count(
                        request.operation().changesRemote() ? WireCounter.SENT : WireCounter.RECEIVED,
                        request.length());
            }
            bytesLeft -= request.length();
            context.completed(request, status);
        }
        working = !accepted.isEmpty();
        if (working) {
            context.loop().execute(this::work);
        }
    }

    private static CompletionStatus execute(WorkRequest request) {
        Key key = (Key) request.remote();
        if (key.entry.ended) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        ExportedRegion region = key.entry.region;
        CompletionStatus status =
                region.acquire(request.operation(), key.key(), key.epoch(), request.remoteOffset(), request.length());
        if (status != CompletionStatus.SUCCESS) {
            return status;
        }
        try {
            MemorySegment remote = at(region.memory().address() + request.remoteOffset(), request.length());
            switch (request.operation()) {
                case WRITE -> remote.copyFrom(at(request.localAddress(), request.length()));
                case READ -> at(request.localAddress(), request.length()).copyFrom(remote);
                case PUT -> put(remote, request.operand());
                case SIGNAL, FETCH_ADD -> request.fetched(region.fetchAdd(request.remoteOffset(), request.operand()));
                case COMPARE_AND_SWAP ->
                    request.fetched(
                            region.compareAndSwap(request.remoteOffset(), request.expected(), request.operand()));
            }
            return CompletionStatus.SUCCESS;
        } finally {
            region.release();
        }
    }

    private static void put(MemorySegment remote, long value) {
        for (long i = 0; i < remote.byteSize(); i++) {
            remote.set(ValueLayout.JAVA_BYTE, i, (byte) (value >>> 8 * i));
        }
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    @Override
    public int lanes(PathState state) {
        return state == PathState.UP && open ? 1 : 0;
    }

    @Override
    public void close() {
        open = false;
        while (!accepted.isEmpty()) {
            context.completed(accepted.remove(), CompletionStatus.FLUSHED_UNSENT);
        }
        List.copyOf(numbers.keySet()).forEach(this::exportEnded);
    }

    @Override
    public boolean isQuiescent() {
        return accepted.isEmpty();
    }
}
