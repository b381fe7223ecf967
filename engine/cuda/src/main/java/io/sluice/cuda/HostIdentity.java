package io.sluice.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where this process runs: on which boot of which kernel, and in which network namespace, of which the names of sockets are. */
record HostIdentity(String text) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NETWORK = Path.of("/proc/self/ns/net");
    private static final String UNKNOWN = "-";

    static HostIdentity here() {
        try {
            return new HostIdentity(Files.readString(BOOT_ID).strip() + " " + Files.readSymbolicLink(NETWORK));
        } catch (IOException | UnsupportedOperationException e) {
            return new HostIdentity(UNKNOWN);
        }
    }

    /** Why a peer there cannot be met, or null if it perhaps can. */
    @Nullable
    String whyOutOfReach(String peer) {
        return !text.equals(UNKNOWN) && text.equals(peer)
                ? null
                : "the peer runs on another host, or in another network namespace of this one";
    }
}
