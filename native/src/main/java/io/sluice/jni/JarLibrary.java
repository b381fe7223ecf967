package io.sluice.jni;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The library in the jar. The dynamic linker loads files only, so it is extracted for the duration of the load. */
record JarLibrary(String platform, Path parent) {
    static final String FOLDER_PROPERTY = "sluice.native.tmpdir";
    private static final int MOST_ATTEMPTS = 100;

    void load(Linker linker) throws IOException {
        String resource = "/META-INF/native/" + platform + "/libsluice.so";
        try (InputStream library = JarLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new FileNotFoundException("no resource " + resource + " next to Sluice's classes");
            }
            Path folder = createFolder();
            Path file = folder.resolve("libsluice.so");
            try {
                Files.copy(library, file);
                load(file, linker);
            } finally {
                delete(file);
                delete(folder);
            }
        }
    }

    /**
     * Creates a folder that no other user may enter, so that the library cannot be replaced in it. The name need not be
     * unpredictable, because an existing folder is not used; {@link Files#createTempDirectory} would initialise a
     * secure random source, which takes longer than loading the library.
     */
    private Path createFolder() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return Files.createDirectory(
                        parent.resolve("sluice-native-" + System.nanoTime()),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException e) {
                if (attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void load(Path file, Linker linker) throws IOException {
        try {
            linker.load(file.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            if (isOnNoexecMount(file)) {
                throw new IOException(
                        "the file system of " + parent + " is mounted noexec; libraries cannot be loaded from it", e);
            }
            throw e;
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // A network file system may refuse to delete an open file. The library is loaded all the same.
            path.toFile().deleteOnExit();
        }
    }

    private static boolean isOnNoexecMount(Path file) throws IOException {
        String mounts = Files.readString(Path.of("/proc/self/mounts"), StandardCharsets.ISO_8859_1);
        return ProcFiles.isOnNoexecMount(mounts.lines().toList(), file.toRealPath());
    }

    @Override
    public String toString() {
        return "the jar's library for " + platform + ", extracted to " + parent;
    }
}
