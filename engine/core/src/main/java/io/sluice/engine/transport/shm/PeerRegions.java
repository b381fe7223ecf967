package io.sluice.engine.transport.shm;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peer's regions attached here. Requests their files, maps each once, and unmaps it when the last attachment has
 * ended and no thread accesses it. On the loop's thread.
 */
final class PeerRegions {
    private final EndpointContext context;
    private final boolean trustsHugePages;
    private final Map<Long, ShmRemoteKey> keys = new HashMap<>();
    private final Map<Long, RemoteFile> files = new HashMap<>();
    private final ArrayDeque<Preparation> preparations = new ArrayDeque<>();
    // ended, but a thread accessed the bytes at the last attempt to release them
    private final List<ShmRemoteKey> lingering = new ArrayList<>();
    private List<ShmRemoteKey> wanted = List.of();
    private boolean closed;

    PeerRegions(EndpointContext context, boolean trustsHugePages) {
        this.context = context;
        this.trustsHugePages = trustsHugePages;
    }

    /** Attachments requested together. */
    private static final class Preparation {
        private final List<ShmRemoteKey> all;
        private final ArrayDeque<ShmRemoteKey> lacking;
        private final Consumer<@Nullable SluiceException> done;
        private @Nullable SluiceException error;

        Preparation(List<ShmRemoteKey> all, Consumer<@Nullable SluiceException> done) {
            this.all = all;
            this.lacking = new ArrayDeque<>(all);
            this.done = done;
        }
    }

    /**
     * Creates the key of a region that the peer offers.
     *
     * @param crossMemoryRefused why cross-memory attach is not available, or null
     * @throws MemoryNotAccessibleException if this side cannot reach it
     */
    ShmRemoteKey key(
            long handle,
            RegionDescriptor descriptor,
            ByteBuffer bytes,
            boolean canCrossMemory,
            String crossMemoryRefused) {
        RegionKeys read = RegionKeys.read(bytes, descriptor.length());
        if (read.way() == RegionKeys.Way.MAPPED && read.hugePages() && !trustsHugePages) {
            throw new MemoryNotAccessibleException(
                    "it is of huge pages, and the peer is not trusted (SLUICE_SHM_TRUST_HUGE_PAGES)");
        }
        if (read.way() == RegionKeys.Way.CROSS_MEMORY && !canCrossMemory) {
            throw new MemoryNotAccessibleException("cross-memory attach is not possible: " + crossMemoryRefused);
        }
        ShmRemoteKey key = new ShmRemoteKey(handle, descriptor.key(), descriptor.epoch(), read, descriptor.length());
        if (keys.putIfAbsent(handle, key) != null) {
            throw new ProtocolException("the peer reused the handle of an attached region");
        }
        return key;
    }

    void prepare(List<RemoteKey> attached, Consumer<@Nullable SluiceException> done) {
        List<ShmRemoteKey> mapped = attached.stream()
                .map(ShmRemoteKey.class::cast)
                .filter(ShmRemoteKey::isMapped)
                .toList();
        preparations.addLast(new Preparation(mapped, done));
        goOn();
    }

    /** Requests the next files; completes preparations that need none. */
    private void goOn() {
        while (wanted.isEmpty()) {
            Preparation first = preparations.peekFirst();
            if (first == null) {
                return;
            }
            List<ShmRemoteKey> next = new ArrayList<>();
            while (next.size() < ShmMessage.MOST_FILES && !first.lacking.isEmpty()) {
                ShmRemoteKey key = first.lacking.removeFirst();
                long number = key.keys().number();
                RemoteFile file = files.get(number);
                if (file != null) {
                    bind(key, file);
                } else if (!key.hasEnded()
                        && next.stream().noneMatch(other -> other.keys().number() == number)) {
                    next.add(key);
                }
            }
            if (next.isEmpty()) {
                preparations.removeFirst();
                finish(first);
            } else {
                wanted = next;
                ByteBuffer message =
                        ByteBuffer.allocate(1 + next.size() * Long.BYTES).put(ShmMessage.WANTED);
                next.forEach(key -> message.putLong(key.handle()));
                context.send(message.array());
            }
        }
    }

    private void finish(Preparation preparation) {
        preparation.done.accept(preparation.error);
        dropUnused();
    }

    /** At once: from then on the end of another attachment does not unmap the file. */
    private static void bind(ShmRemoteKey key, RemoteFile file) {
        if (key.hasEnded() || key.isBound()) {
            return;
        }
        if (!file.fits(key.keys())) {
            throw new ProtocolException("the peer's keys of a region contradict earlier ones");
        }
        file.use();
        key.bind(file);
    }

    /** Releases files that were mapped for attachments that ended before they were bound. */
    private void dropUnused() {
        if (preparations.isEmpty()) {
            files.values().removeIf(RemoteFile::closeIfUnused);
        }
    }

    /**
     * The requested files have arrived.
     *
     * @param message the message after its type
     * @param descriptors the files; the caller closes them
     */
    void filesCame(ByteBuffer message, int[] descriptors) {
        List<ShmRemoteKey> expected = wanted;
        Preparation preparation = preparations.peekFirst();
        if (preparation == null || message.remaining() != expected.size() * (Long.BYTES + 1)) {
            throw new ProtocolException("the peer sent region files that were not requested");
        }
        int next = 0;
        for (ShmRemoteKey key : expected) {
            boolean sent = message.getLong() == key.handle() && message.get() == 1;
            if (sent && next == descriptors.length) {
                throw new ProtocolException("the peer sent fewer files than it announced");
            }
            if (sent) {
                int descriptor = descriptors[next++];
                try {
                    mapped(preparation, key.keys().number(), RemoteFile.map(descriptor, key.keys()));
                } catch (RegistrationException e) {
                    preparation.error = e;
                }
            }
        }
        wanted = List.of();
        goOn();
    }

    private void mapped(Preparation preparation, long number, RemoteFile file) {
        files.put(number, file);
        for (ShmRemoteKey key : preparation.all) {
            if (key.keys().number() == number) {
                bind(key, file);
            }
        }
    }

    /** The user has detached a region. */
    void detached(ShmRemoteKey key) {
        end(key);
    }

    /** The target has ended an attachment and waits for the confirmation that it is no longer used. */
    void ended(long handle) {
        ShmRemoteKey key = keys.get(handle);
        if (key == null) {
            context.send(ShmMessage.of(ShmMessage.RELEASED, handle));
        } else {
            key.oweWord();
            end(key);
        }
    }

    private void end(ShmRemoteKey key) {
        key.end();
        // first, so that a failure leads to another attempt: the target's region waits for the confirmation
        if (!lingering.contains(key)) {
            lingering.add(key);
        }
        if (letGo(key)) {
            lingering.remove(key);
        }
    }

    private boolean letGo(ShmRemoteKey key) {
        if (!key.tryLetGo()) {
            return false;
        }
        RemoteFile file = key.takeFile();
        if (file != null && file.leave()) {
            files.remove(key.keys().number());
        }
        if (key.owesWord() && !closed) {
            context.send(ShmMessage.of(ShmMessage.RELEASED, key.handle()));
        }
        // last: the confirmation is due until it is queued
        key.saidWord();
        keys.remove(key.handle());
        return true;
    }

    boolean isLingering() {
        return !lingering.isEmpty();
    }

    /** Tries again to release regions that were in use. */
    void letGo() {
        lingering.removeIf(this::letGo);
    }

    void close() {
        closed = true;
        preparations.clear();
        wanted = List.of();
        for (ShmRemoteKey key : List.copyOf(keys.values())) {
            end(key);
        }
        files.values().removeIf(RemoteFile::closeIfUnused);
    }
}
