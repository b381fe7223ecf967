package io.sluice.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Loopback ports for a program, or for a listener that closes and listens again. They lie below the kernel's ephemeral
 * ports, so that no other socket gets one by chance while its owner is away, and a socket that connects to one cannot be
 * given the same.
 */
public final class FreePort {
    private static final int FIRST = 12_000;
    private static final int END = 32_000;
    private static final int ATTEMPTS = 1_000;

    private FreePort() {}

    /** One at which nothing listens. */
    public static int any() {
        return firstOf(1);
    }

    /** The first of so many neighbours at which nothing listens. */
    public static int firstOf(int count) {
        return ThreadLocalRandom.current()
                .ints(ATTEMPTS, FIRST, END - count)
                .filter(first -> IntStream.range(first, first + count).allMatch(FreePort::isFree))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no ports are free"));
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
