package io.sluice.engine.transport.shm;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes sockets that killed processes have left in the shared directory. */
final class StaleSockets {
    private static final Logger LOG = LoggerFactory.getLogger(StaleSockets.class);
    /** File systems local to one host. Elsewhere a socket that listens on another host looks stale. */
    private static final Set<String> LOCAL =
            Set.of("btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs");

    /**
     * Engines meet within seconds. A kernel before 5.14 also refuses the type for a moment while a socket is being
     * opened.
     */
    private static final Duration LONGEST_USE = Duration.ofHours(1);

    private StaleSockets() {}

    /** Removes sockets that no process has open. Keeps those in doubt. */
    static void removeFrom(String directory) {
        Path folder = Path.of(directory);
        try {
            if (!Files.isDirectory(folder)
                    || !LOCAL.contains(Files.getFileStore(folder).type())) {
                return;
            }
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, StaleSockets::isNamedLikeOne)) {
                files.forEach(StaleSockets::removeIfStale);
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("sockets that are no longer in use may stay in {}", directory, e);
        }
    }

    private static boolean isNamedLikeOne(Path file) {
        return Rendezvous.isName(file.getFileName().toString());
    }

    private static void removeIfStale(Path file) {
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            Instant young = Instant.now().minus(LONGEST_USE);
            if (attributes.isOther()
                    && attributes.lastModifiedTime().toInstant().isBefore(young)
                    && isStale(file)
                    && Files.deleteIfExists(file)) {
                LOG.info("removed the stale socket {} of a process that has ended", file);
            }
        } catch (IOException e) {
            LOG.debug("the socket {} may no longer be in use, and stays", file, e);
        }
    }

    /**
     * Connects with another socket type than a meeting point has: an open meeting point refuses the type and does not
     * notice; a stale one refuses the connection.
     */
    private static boolean isStale(Path socket) {
        try (SocketChannel asking = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // a socket of another program may never answer
            asking.configureBlocking(false);
            asking.connect(UnixDomainSocketAddress.of(socket));
            return false;
        } catch (ConnectException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
