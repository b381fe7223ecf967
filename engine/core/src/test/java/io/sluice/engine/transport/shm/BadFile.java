package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.EventDescriptor;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** Descriptors that must not be mapped as memory of so many bytes. */
enum BadFile {
    UNSEALED,
    UNSEALED_AND_CUT_AFTERWARDS,
    SHORTER,
    LONGER,
    ORDINARY_FILE,
    PIPE,
    EVENT,
    SOCKET;

    private static final int PAGE = 4096;

    /** A sealed file. */
    static int sealed(long bytes, boolean readOnly) {
        int file = SharedMemory.create("sluice-fake".getBytes(StandardCharsets.US_ASCII), bytes, false, false);
        assertThat(file).isPositive();
        assertThat(SharedMemory.seal(file, readOnly)).isZero();
        return file;
    }

    private static int unsealed(long bytes) {
        int file = SharedMemory.create("sluice-fake".getBytes(StandardCharsets.US_ASCII), bytes, false, false);
        assertThat(file).isPositive();
        return file;
    }

    /** Cuts a file to nothing; false if it cannot be cut. */
    static boolean cut(int descriptor) {
        try (FileChannel channel = FileChannel.open(Path.of("/proc/self/fd/" + descriptor), StandardOpenOption.WRITE)) {
            channel.truncate(0);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    /** Does something with a bad descriptor in place of memory of so many bytes. */
    void use(long bytes, IntConsumer what) {
        switch (this) {
            case UNSEALED -> closing(unsealed(bytes), what);
            case UNSEALED_AND_CUT_AFTERWARDS ->
                closing(unsealed(bytes), file -> {
                    what.accept(file);
                    assertThat(cut(file)).isTrue();
                });
            case SHORTER -> closing(sealed(bytes - PAGE, false), what);
            case LONGER -> closing(sealed(bytes + PAGE, false), what);
            case ORDINARY_FILE -> ordinaryFile(bytes, what);
            case PIPE -> pipe(what);
            case EVENT -> closing(EventDescriptor.create(), what);
            case SOCKET ->
                closing(LocalSockets.listen("\0sluice-test-no-peer".getBytes(StandardCharsets.US_ASCII)), what);
        }
    }

    private static void closing(int descriptor, IntConsumer what) {
        assertThat(descriptor).isPositive();
        try {
            what.accept(descriptor);
        } finally {
            Sockets.close(descriptor);
        }
    }

    private static void ordinaryFile(long bytes, IntConsumer what) {
        try {
            Path file = Files.createTempFile("sluice-shm", ".bin");
            Set<String> before = targets();
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
                channel.write(ByteBuffer.allocate((int) bytes));
                what.accept(opened(before, file.toString()));
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void pipe(IntConsumer what) {
        try {
            Set<String> before = targets();
            Pipe pipe = Pipe.open();
            try (Pipe.SourceChannel source = pipe.source();
                    Pipe.SinkChannel sink = pipe.sink()) {
                what.accept(opened(before, "pipe:"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> targets() throws IOException {
        Set<String> targets = new HashSet<>();
        for (Path link : links()) {
            targets.add(target(link));
        }
        return targets;
    }

    private static List<Path> links() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.toList();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    /** The descriptor that was opened since. */
    private static int opened(Set<String> before, String kind) throws IOException {
        for (Path link : links()) {
            String target = target(link);
            if (target.startsWith(kind) && !before.contains(target)) {
                return Integer.parseInt(link.getFileName().toString());
            }
        }
        throw new AssertionError("no descriptor of " + kind);
    }
}
