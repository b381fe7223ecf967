package io.sluice.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where this process runs, as far as peers must know: the kernel's boot id, the network namespace (which scopes
 * abstract Unix socket names), and the shared directory. Host names are not used: two hosts can share one, and one host
 * can have several.
 */
record Host(String boot, String network, String directory) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NETWORK = Path.of("/proc/self/ns/net");
    private static final String NONE = "-";

    /** The kernel's boot id, or null if it is unknown. */
    static @Nullable String bootId() {
        try {
            return Files.readString(BOOT_ID).strip();
        } catch (IOException e) {
            return null;
        }
    }

    /** The host of this process. */
    static Host here(@Nullable String directory) {
        String boot = bootId();
        return new Host(boot == null ? NONE : boot, networkHere(), directory == null ? NONE : directoryId(directory));
    }

    private static String networkHere() {
        try {
            return Files.readSymbolicLink(NETWORK).toString();
        } catch (IOException | UnsupportedOperationException e) {
            return NONE;
        }
    }

    /** Returns the device and inode numbers, which identify the directory at any mount point. */
    private static String directoryId(String directory) {
        try {
            Map<String, Object> attributes = Files.readAttributes(Path.of(directory), "unix:dev,ino");
            return attributes.get("dev") + ":" + attributes.get("ino");
        } catch (IOException | UnsupportedOperationException e) {
            return NONE;
        }
    }

    /** Returns the form in the bootstrap. */
    String text() {
        return boot + " " + network + " " + directory;
    }

    /** Parses that form; returns null if it is invalid. */
    static @Nullable Host read(String text) {
        String[] parts = text.split(" ", -1);
        return parts.length == 3 ? new Host(parts[0], parts[1], parts[2]) : null;
    }

    /** Returns why this process and a peer cannot meet, or null if they may. */
    @Nullable
    String whyOutOfReach(@Nullable Host peer) {
        if (peer == null) {
            return "the peer's offer does not say where it runs";
        }
        if (boot.equals(NONE) || !boot.equals(peer.boot)) {
            return "the peer runs on another host";
        }
        if (sharesNetwork(peer) || sharesDirectory(peer)) {
            return null;
        }
        return "the peer is on this host, but in another network namespace; give both the same directory"
                + " (SLUICE_SHM_DIRECTORY)";
    }

    boolean sharesNetwork(Host peer) {
        return !network.equals(NONE) && network.equals(peer.network);
    }

    private boolean sharesDirectory(Host peer) {
        return !directory.equals(NONE) && directory.equals(peer.directory);
    }
}
