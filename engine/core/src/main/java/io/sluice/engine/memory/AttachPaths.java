package io.sluice.engine.memory;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.control.PeerText;
import io.sluice.engine.transport.RemoteKey;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The paths of a connection over which regions are attached, and their form in the answer to an attach. On the
 * connection's loop.
 */
public final class AttachPaths {
    private static final int MOST_DEVICE_BYTES = 255;

    private final List<AttachPath> paths;
    private final PathPolicy policy;
    private final boolean told;

    /**
     * Creates the paths of a connection.
     *
     * @param paths all paths, in order
     * @param policy chooses among the paths
     * @param told whether the peer supports several paths, so that an answer names the path of the keys
     */
    public AttachPaths(List<AttachPath> paths, PathPolicy policy, boolean told) {
        this.paths = List.copyOf(paths);
        this.policy = policy;
        this.told = told;
    }

    // ---- of this engine's regions ----

    /** Whether a path may reach memory of a kind. */
    boolean register(MemoryKind kind) {
        return paths.stream().anyMatch(path -> path.transport().exports(kind));
    }

    /** Returns the exports of a region by path; null if the peer reaches it over none. */
    @Nullable
    RegionExport @Nullable [] export(LocalRegion region, RegionDescriptor descriptor) {
        @Nullable RegionExport[] byPath = new @Nullable RegionExport[paths.size()];
        boolean some = false;
        for (AttachPath path : paths) {
            int transport = path.transport().index();
            if (!region.isTakenBy(transport)) {
                continue;
            }
            RegionExport export = new RegionExport(region, descriptor, transport);
            if (path.endpoint().reaches(export)) {
                byPath[path.index()] = export;
                some = true;
            }
        }
        return some ? byPath : null;
    }

    /**
     * Returns the part of the answer to an attach after the handle; null if the region is closing, and then nothing is
     * exported.
     */
    byte @Nullable [] keysOf(long handle, LocalRegion region, @Nullable RegionExport[] byPath) {
        ByteArrayOutputStream offers = new ByteArrayOutputStream();
        int count = 0;
        for (AttachPath path : paths) {
            RegionExport export = byPath[path.index()];
            byte[] keys = export == null
                    ? keysOfRefused(path, region)
                    : path.endpoint().keysOf(handle, export);
            if (keys == null && export == null) {
                continue;
            }
            if (keys == null) {
                paths.subList(0, path.index())
                        .forEach(before -> before.endpoint().exportEnded(handle));
                return null;
            }
            count++;
            if (told) {
                offers.write(path.index());
            }
            offers.writeBytes(
                    ByteBuffer.allocate(2).putShort((short) keys.length).array());
            offers.writeBytes(keys);
        }
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        if (told) {
            String device = region.memory().device();
            byte[] text = device == null ? new byte[0] : device.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(text.length, MOST_DEVICE_BYTES);
            answer.write(length);
            answer.write(text, 0, length);
            answer.write(count);
        }
        answer.writeBytes(offers.toByteArray());
        return answer.toByteArray();
    }

    private byte @Nullable [] keysOfRefused(AttachPath path, LocalRegion region) {
        RegistrationException refusal = region.refusal(path.transport().index());
        if (!told || refusal == null) {
            return null;
        }
        byte[] reason = PeerText.write(String.valueOf(refusal.getMessage()));
        return path.endpoint().keysOfRefused(new String(reason, StandardCharsets.UTF_8));
    }

    /** Returns that part for a refused region. */
    byte[] noKeys() {
        return new byte[2];
    }

    /** Called when an attachment of the peer has ended. */
    public void exportEnded(long handle) {
        paths.forEach(path -> path.endpoint().exportEnded(handle));
    }

    // ---- of the peer's regions ----

    /** Reads the part of an answer after the handle of an attached region. */
    PathChoice read(RegionDescriptor descriptor, long handle, ByteBuffer answer) {
        String device = null;
        int count = 1;
        if (told) {
            int length = Byte.toUnsignedInt(AttachMessage.need(answer, 1).get());
            device = length == 0 ? null : PeerText.read(cut(answer, length));
            count = Byte.toUnsignedInt(AttachMessage.need(answer, 1).get());
        }
        PathChoice choice = new PathChoice(paths, policy, descriptor, device);
        int last = -1;
        for (int i = 0; i < count; i++) {
            int path = told ? Byte.toUnsignedInt(AttachMessage.need(answer, 1).get()) : 0;
            ByteBuffer keys = keys(answer);
            if (path <= last || path >= paths.size()) {
                throw new ProtocolException("the peer attaches a region over path " + path + " of " + paths.size()
                        + ", after path " + last);
            }
            last = path;
            choice.offered(path, handle, keys);
        }
        return choice;
    }

    /** Reads that part for a refused region. */
    void readNoKeys(ByteBuffer answer) {
        keys(answer);
    }

    private static ByteBuffer keys(ByteBuffer answer) {
        return cut(answer, Short.toUnsignedInt(AttachMessage.need(answer, 2).getShort()));
    }

    private static ByteBuffer cut(ByteBuffer answer, int length) {
        ByteBuffer part = AttachMessage.need(answer, length).slice(answer.position(), length);
        answer.position(answer.position() + length);
        return part;
    }

    /**
     * Prepares attached regions, each over the paths that were chosen for it.
     *
     * @param done run once with null, or with the first error
     */
    void prepare(List<PathChoice> attached, Consumer<@Nullable SluiceException> done) {
        if (paths.size() == 1) {
            paths.getFirst().endpoint().prepare(keys(attached, 0), done);
            return;
        }
        Consumer<@Nullable SluiceException> all = new Consumer<>() {
            private int left = paths.size();
            private @Nullable SluiceException first;

            @Override
            public void accept(@Nullable SluiceException error) {
                first = first == null ? error : first;
                if (--left == 0) {
                    done.accept(first);
                }
            }
        };
        for (AttachPath path : paths) {
            path.endpoint().prepare(keys(attached, path.index()), all);
        }
    }

    private static List<RemoteKey> keys(List<PathChoice> attached, int path) {
        List<RemoteKey> keys = new ArrayList<>(attached.size());
        for (PathChoice each : attached) {
            RemoteKey key = each.key(path);
            if (key != null) {
                keys.add(key);
            }
        }
        return keys;
    }

    /** Called when a region is no longer attached. */
    void detached(AttachedRegion region) {
        region.keys().forEach(key -> paths.get(key.path()).endpoint().detached(key));
    }
}
