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
 * The peer's regions that are attached here: their files are requested, mapped once, and unmapped when the last
 * attachment has ended and no thread accesses it. On the loop's thread.
 */
final class PeerRegions {
    private final EndpointContext context;
    private final boolean trustsHugePages;
    private final Map<Long, ShmRemoteKey> keys = new HashMap<>();
    private final Map<Long, RemoteFile> files = new HashMap<>();
    private final ArrayDeque<Preparation> preparations = new ArrayDeque<>();
    // ended, but touched by some thread when that was tried last
    private final List<ShmRemoteKey> lingering = new ArrayList<>();
    private List<ShmRemoteKey> wanted = List.of();
    private boolean closed;

    PeerRegions(EndpointContext context, boolean trustsHugePages) {
        this.context = context;
        this.trustsHugePages = trustsHugePages;
    }

    /** Attachments that were asked for together. */
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
     * The key of a region that the peer offers.
     *
     * @param crossMemoryRefused why there is no cross-memory attach, if there is none
     * @throws MemoryNotAccessibleException if this side does not reach it
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
            throw new ProtocolException("the peer uses a handle twice");
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

    /** Requests the next files, or ends preparations that lack none. */
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
                if (!key.hasEnded()
                        && !files.containsKey(number)
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
        for (ShmRemoteKey key : preparation.all) {
            RemoteFile file = files.get(key.keys().number());
            if (key.hasEnded() || file == null) {
                // its region was closed meanwhile, or its file could not be mapped
                continue;
            }
            if (!file.fits(key.keys())) {
                throw new ProtocolException("the peer contradicts itself about a region");
            }
            file.use();
            key.bind(file);
        }
        preparation.done.accept(preparation.error);
        dropUnused();
    }

    /** Files that were mapped for attachments that have ended before they were bound. */
    private void dropUnused() {
        if (preparations.isEmpty()) {
            files.values().removeIf(RemoteFile::closeIfUnused);
        }
    }

    /**
     * Called with the requested files.
     *
     * @param message after its type
     * @param descriptors closed by the caller
     */
    void filesCame(ByteBuffer message, int[] descriptors) {
        List<ShmRemoteKey> expected = wanted;
        Preparation preparation = preparations.peekFirst();
        if (preparation == null || message.remaining() != expected.size() * (Long.BYTES + 1)) {
            throw new ProtocolException("the peer sends files that were not wanted");
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
                    files.put(key.keys().number(), RemoteFile.map(descriptor, key.keys()));
                } catch (RegistrationException e) {
                    preparation.error = e;
                }
            }
        }
        wanted = List.of();
        goOn();
    }

    /** The initiator's user has detached it. */
    void detached(ShmRemoteKey key) {
        end(key);
    }

    /** Called when the target has ended an attachment and waits for the confirmation that it is not used any more. */
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
        // first, so that it is tried again if this fails: the target's region waits for the word
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
        // only now: the word is owed until it is said
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

    /** The connection has ended. */
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
