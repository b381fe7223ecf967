package io.sluice.samples;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Ports of this machine for what must be told one. They lie below those that kernels give to connections by default, so that
 * no connection takes one before it is listened on.
 */
public final class FreePort {

    private static final int FIRST = 20_000;
    private static final int END = 30_000;
    private static final int ATTEMPTS = 1000;

    private FreePort() {}

    /** One that nobody uses now. */
    public static int any() {
        return firstOf(1);
    }

    /** The first of so many neighbours that nobody uses now. */
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
