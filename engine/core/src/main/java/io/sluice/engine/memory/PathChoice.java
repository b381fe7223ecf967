package io.sluice.engine.memory;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.PathPolicy.Question;
import io.sluice.engine.PathPolicy.Use;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Chooses the paths over which a region of the peer is reached. On the connection's loop. */
final class PathChoice {
    private static final MemoryKind[] KINDS = MemoryKind.values();
    private static final String STAGED = "staged through pinned memory of the host: ";
    private static final int STAGED_RANK = 2;

    private final List<AttachPath> paths;
    private final PathPolicy policy;
    private final RegionDescriptor descriptor;
    private final @Nullable String device;
    private final @Nullable RemoteKey[] keys;
    private final String[] obstacles;
    private final boolean[] used;
    private @Nullable RegionPath first;

    PathChoice(List<AttachPath> paths, PathPolicy policy, RegionDescriptor descriptor, @Nullable String device) {
        this.paths = paths;
        this.policy = policy;
        this.descriptor = descriptor;
        this.device = device;
        this.keys = new @Nullable RemoteKey[paths.size()];
        this.obstacles = new String[paths.size()];
        this.used = new boolean[paths.size()];
        for (AttachPath path : paths) {
            obstacles[path.index()] = "the peer does not offer the region over it";
        }
    }

    /** Records that the peer offers the region over a path. */
    void offered(int path, long handle, ByteBuffer bytes) {
        try {
            RemoteKey key = paths.get(path).endpoint().remoteKey(handle, descriptor, bytes);
            key.path(path);
            keys[path] = key;
        } catch (MemoryNotAccessibleException e) {
            obstacles[path] = String.valueOf(e.getMessage());
        }
    }

    /**
     * Chooses the paths and detaches the region from the others.
     *
     * @throws SluiceException if there is none, or the policy fails
     */
    AttachedRegion choose(Connection connection) {
        @Nullable RegionPath[] copies = new @Nullable RegionPath[KINDS.length];
        @Nullable RegionPath[] others = new @Nullable RegionPath[KINDS.length];
        RegionPath words;
        try {
            for (MemoryKind local : KINDS) {
                RegionPath chosen = choose(Use.COPIES, local, path -> accesses(path, local));
                copies[local.ordinal()] = chosen;
                if (chosen != null && takesSomeOf(local, chosen)) {
                    int taken = chosen.path().index();
                    others[local.ordinal()] = choose(Use.COPIES, local, path -> path != taken && accesses(path, local));
                }
            }
            words = choose(Use.WORDS, MemoryKind.HOST, this::carriesWords);
        } catch (RuntimeException | Error e) {
            giveUp(path -> true);
            throw e;
        }
        RegionPath any = first;
        if (any == null) {
            giveUp(path -> true);
            throw new MemoryNotAccessibleException(
                    "no path of this connection reaches the region of " + descriptor + ": " + obstacles());
        }
        giveUp(path -> !used[path]);
        return new AttachedRegion(connection, descriptor, copies, others, words, any);
    }

    /** Whether the path's transport may have refused a local device region. */
    private static boolean takesSomeOf(MemoryKind local, RegionPath chosen) {
        return local != MemoryKind.HOST
                && chosen.path().transport().transport().partial().contains(local);
    }

    private boolean accesses(int path, MemoryKind local) {
        return paths.get(path).transport().accesses(local);
    }

    /** Whether a path carries bytes between two kinds of memory through a ring of pinned memory of the host. */
    private boolean isStaged(AttachPath path, MemoryKind local) {
        return path.transport().transport().carriesStaged()
                && (local != MemoryKind.HOST || descriptor.kind() != MemoryKind.HOST);
    }

    private boolean carriesWords(int path) {
        RemoteKey key = keys[path];
        return key != null && key.carriesWords();
    }

    private @Nullable RegionPath choose(Use use, MemoryKind local, IntPredicate able) {
        List<ConnectionPath> candidates = new ArrayList<>(paths.size());
        for (int rank = 0; rank <= STAGED_RANK; rank++) {
            for (AttachPath path : paths) {
                if (keys[path.index()] != null && able.test(path.index()) && rank(path, local) == rank) {
                    candidates.add(path.face());
                }
            }
        }
        if (candidates.isEmpty()) {
            return null;
        }
        ConnectionPath chosen = policy.choose(new Question(descriptor, device, use, local, candidates));
        for (AttachPath path : paths) {
            RemoteKey key = keys[path.index()];
            if (key != null && path.face().equals(chosen) && candidates.contains(chosen)) {
                RegionPath taken = new RegionPath(path, key, reason(path, candidates, use, local));
                used[path.index()] = true;
                if (first == null) {
                    first = taken;
                }
                return taken;
            }
        }
        throw new SluiceException("the path policy has chosen " + chosen + ", which is not among the candidates "
                + candidates + " for " + descriptor);
    }

    private int rank(AttachPath path, MemoryKind local) {
        return isStaged(path, local) ? STAGED_RANK : isHome(path, local) ? 0 : 1;
    }

    /** Whether the path is of the transport that allocates the device's memory: it knows better ways than an adapter. */
    private boolean isHome(AttachPath path, MemoryKind local) {
        Set<MemoryKind> allocated = path.transport().transport().memory().allocate();
        return (descriptor.kind() != MemoryKind.HOST && allocated.contains(descriptor.kind()))
                || (local != MemoryKind.HOST && allocated.contains(local));
    }

    private String reason(AttachPath taken, List<ConnectionPath> candidates, Use use, MemoryKind local) {
        boolean staged = isStaged(taken, local);
        ConnectionPath preferred = candidates.getFirst();
        if (!taken.face().equals(preferred)) {
            return (staged ? STAGED : "") + "the path policy prefers it to " + preferred.transport();
        }
        StringBuilder reason = new StringBuilder();
        for (AttachPath better : paths) {
            boolean precedes = isStaged(better, local) == staged ? better.index() < taken.index() : staged;
            if (!precedes) {
                continue;
            }
            reason.append(reason.isEmpty() ? "" : "; ").append(better.face().transport());
            if (candidates.contains(better.face())) {
                reason.append(" is not the transport of the device");
            } else {
                reason.append(" does not: ").append(obstacle(better, use, local));
            }
        }
        if (reason.isEmpty()) {
            reason.append(staged ? taken.face().reason() : "the connection's preferred path reaches the region");
        }
        return staged ? STAGED + reason : reason.toString();
    }

    private String obstacle(AttachPath path, Use use, MemoryKind local) {
        if (keys[path.index()] == null) {
            return obstacles[path.index()];
        }
        return use == Use.WORDS
                ? "it only copies from and to the region"
                : "it does not access local memory of kind " + local;
    }

    private String obstacles() {
        List<String> each = new ArrayList<>();
        for (AttachPath path : paths) {
            each.add(path.face().transport() + ": " + obstacles[path.index()]);
        }
        return String.join("; ", each);
    }

    private void giveUp(IntPredicate which) {
        for (AttachPath path : paths) {
            RemoteKey key = keys[path.index()];
            if (key != null && which.test(path.index())) {
                path.endpoint().detached(key);
                keys[path.index()] = null;
            }
        }
    }

    /** Returns the key for a path; null if that is not chosen. */
    @Nullable
    RemoteKey key(int path) {
        return keys[path];
    }
}
