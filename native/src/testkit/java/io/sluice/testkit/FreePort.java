package io.sluice.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Loopback ports for a program, or for a listener that closes and listens again. They lie below the kernel's ephemeral
 * ports, so that no other socket gets one by chance while its owner is away, and a socket that connects to one cannot be
 * given the same. A port belongs to the process that asked for it until that ends: a server that restarts finds its own
 * again while other test processes look for theirs.
 */
public final class FreePort {
    private static final int FIRST = 12_000;
    private static final int END = 32_000;
    private static final int ATTEMPTS = 1_000;

    /** One byte a port. The kernel gives the locks back when the process ends, by a signal as well. */
    private static final FileChannel OWNERS = open();

    private FreePort() {}

    /** One at which nothing listens. */
    public static int any() {
        return firstOf(1);
    }

    /** The first of so many neighbours at which nothing listens. */
    public static int firstOf(int count) {
        return ThreadLocalRandom.current()
                .ints(ATTEMPTS, FIRST, END - count)
                .filter(first -> IntStream.range(first, first + count).allMatch(port -> isFree(port) && own(port)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no ports are free"));
    }

    /**
     * Whether nothing listens at a port of loopback.
     *
     * @param port a port, from 1 to 65,535
     * @return true if a listener could bind it now
     */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean own(int port) {
        try {
            return OWNERS.tryLock(port, 1, false) != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FileChannel open() {
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "sluice-ports-" + System.getProperty("user.name"));
        try {
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
