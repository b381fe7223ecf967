package io.sluice.engine.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file that contains a secret: bounded, and not accessible to every user. */
public final class SecretFile {
    private SecretFile() {}

    /**
     * Reads such a file.
     *
     * @param path a regular file, or a link to one
     * @param maxBytes the longest allowed file
     * @return its bytes
     * @throws IOException if it cannot be read, is too long, or every user may read or write it
     */
    public static byte[] read(Path path, int maxBytes) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        if (view != null) {
            refuseOpenToAll(path, view.readAttributes().permissions());
        }
        return bounded(path, maxBytes);
    }

    /**
     * Reads a file without a secret.
     *
     * @param path a regular file, or a link to one
     * @param maxBytes the longest allowed file
     * @return its bytes
     * @throws IOException if it cannot be read, or is too long
     */
    static byte[] bounded(Path path, int maxBytes) throws IOException {
        if (!Files.isRegularFile(path)) {
            // a pipe or a device could block forever
            throw new IOException(path + (Files.exists(path) ? " is not a regular file" : " does not exist"));
        }
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(maxBytes + 1);
            if (bytes.length > maxBytes) {
                throw new IOException(path + " is longer than " + maxBytes + " bytes");
            }
            return bytes;
        }
    }

    private static void refuseOpenToAll(Path path, Set<PosixFilePermission> permissions) throws IOException {
        @Nullable
        String all = permissions.contains(PosixFilePermission.OTHERS_READ)
                ? "read"
                : permissions.contains(PosixFilePermission.OTHERS_WRITE) ? "change" : null;
        if (all != null) {
            throw new IOException(path + " contains a secret, but every user of this machine may " + all
                    + " it; remove that right (chmod o= " + path + ")");
        }
    }
}
