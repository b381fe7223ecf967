package io.sluice.engine.transport.shm;

import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.SecretSource;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The meeting point of one acceptor and one initiator: a Unix socket with a random name, known only from the
 * authenticated bootstrap. It listens in the abstract namespace of the network namespace and, if configured, in the
 * shared directory.
 */
final class Rendezvous implements AutoCloseable {
    private static final String PREFIX = "sluice-";

    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{" + 2 * SecretSource.BYTES + "}");
    private static final Logger LOG = LoggerFactory.getLogger(Rendezvous.class);
    private static final int NONE = -1;

    private final String name;
    private final int byName;
    private final int byPath;
    private final @Nullable Path path;

    private Rendezvous(String name, int byName, int byPath, @Nullable Path path) {
        this.name = name;
        this.byName = byName;
        this.byPath = byPath;
        this.path = path;
    }

    /** Whether {@link #open} could have created this name. */
    static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** Opens a meeting point whose name encodes these bytes, also in the directory if there is one. */
    static Rendezvous open(@Nullable String directory, byte[] random) {
        String name = PREFIX + HexFormat.of().formatHex(random);
        int byName = LocalSockets.listen(abstractAddress(name));
        int byPath = NONE;
        Path path = null;
        if (directory != null) {
            path = Path.of(directory, name);
            byPath = LocalSockets.listen(pathAddress(directory, name));
            if (byPath < 0) {
                LOG.warn(
                        "cannot listen in {} for peers in other network namespaces: {}",
                        directory,
                        Errno.message(-byPath));
                path = null;
            }
        }
        if (byName < 0 && byPath < 0) {
            throw new TransportUnavailableException(
                    "cannot open a Unix socket to meet the peer: " + Errno.message(-byName));
        }
        return new Rendezvous(name, byName, byPath, path);
    }

    /**
     * Connects to a meeting point.
     *
     * @return the socket
     * @throws TransportUnavailableException if it cannot be reached
     */
    static int connect(String name, boolean sameNetwork, @Nullable String directory) {
        int socket = -Errno.ENOENT;
        if (sameNetwork) {
            socket = LocalSockets.connect(abstractAddress(name));
        }
        if (socket < 0 && directory != null) {
            socket = LocalSockets.connect(pathAddress(directory, name));
        }
        if (socket < 0) {
            throw new TransportUnavailableException(
                    "the peer claims to run on this host, but does not answer here: " + Errno.message(-socket));
        }
        return socket;
    }

    private static byte[] abstractAddress(String name) {
        return ("\0" + name).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] pathAddress(String directory, String name) {
        return (directory + "/" + name).getBytes(StandardCharsets.UTF_8);
    }

    String name() {
        return name;
    }

    /** The listening sockets. */
    int[] descriptors() {
        if (byName < 0) {
            return new int[] {byPath};
        }
        return byPath < 0 ? new int[] {byName} : new int[] {byName, byPath};
    }

    @Override
    public void close() {
        for (int each : descriptors()) {
            Sockets.close(each);
        }
        if (path != null) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOG.warn("cannot delete the socket {}; delete it by hand", path, e);
            }
        }
    }
}
