package io.sluice.engine.security;

import io.sluice.engine.SluiceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A value that is made of files, and again when one of them has changed. If that fails the last value stays in use, so
 * that a file being written disconnects no peer. Any thread that may block.
 *
 * @param <T> the value
 */
public final class Reloaded<T> {
    private static final Logger LOG = LoggerFactory.getLogger(Reloaded.class);
    private static final long CHECK_NANOS = 1_000_000_000L;

    private final String what;
    private final List<Path> files;
    private final Loader<T> loader;
    private @Nullable T made;
    private List<Version> versions = List.of();
    // the versions that could not be used at the last try: logged once, and tried again
    private List<Version> unusable = List.of();
    private long checkedAt;

    /** Creates it. */
    @FunctionalInterface
    public interface Loader<T> {
        /**
         * Reads the files.
         *
         * @return the value made of them
         * @throws IOException if one cannot be read, or is not in order
         * @throws GeneralSecurityException if their contents are unusable
         */
        T load() throws IOException, GeneralSecurityException;
    }

    /** The time alone would miss a change within its granularity; a link that leads elsewhere is another file. */
    private record Version(@Nullable Object key, FileTime modified, long size) {
        static final Version GONE = new Version(null, FileTime.fromMillis(0), -1);

        static Version of(Path path) {
            try {
                BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
                return new Version(found.fileKey(), found.lastModifiedTime(), found.size());
            } catch (IOException e) {
                return GONE;
            }
        }
    }

    /**
     * Reads nothing yet.
     *
     * @param what it is, for messages
     * @param files that it is made of
     * @param loader makes it
     */
    public Reloaded(String what, List<Path> files, Loader<T> loader) {
        this.what = what;
        this.files = List.copyOf(files);
        this.loader = loader;
    }

    /**
     * The value of the files' content at the last look, at most a second ago.
     *
     * @return the value made of them
     * @throws SluiceException if nothing could be made of them yet
     */
    public synchronized T get() {
        long now = System.nanoTime();
        T current = made;
        if (current != null && now - checkedAt < CHECK_NANOS) {
            return current;
        }
        checkedAt = now;
        // before the reading, so that a change during it is seen the next time
        List<Version> found = new ArrayList<>();
        files.forEach(file -> found.add(Version.of(file)));
        if (current != null && found.equals(versions)) {
            return current;
        }
        try {
            T loaded = loader.load();
            if (current != null) {
                LOG.info("{} reloaded from changed files: {}", what, files);
            }
            made = loaded;
            versions = found;
            unusable = List.of();
            return loaded;
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            if (current == null) {
                throw new SluiceException("cannot use " + what + ": " + e.getMessage(), e);
            }
            // a right that is taken away, or descriptors that are free again, show in none of the attributes compared
            // here
            if (!found.equals(unusable)) {
                unusable = found;
                LOG.warn(
                        "{} has changed but cannot be used; the previous content stays in use: {}", what, e.toString());
            }
            return current;
        }
    }
}
