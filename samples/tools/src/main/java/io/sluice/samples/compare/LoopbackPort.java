package io.sluice.samples.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** Ports of this machine, for programs that must be told one. */
public final class LoopbackPort {
    // below those that the kernel gives to sockets that ask for no port
    private static final int FIRST = 20_000;
    private static final int END = 30_000;
    private static final int ATTEMPTS = 1_000;
    private static final List<Path> SOCKETS = List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    private static final int LOCAL_ADDRESS = 1;
    private static final int STATE = 3;
    private static final String LISTENING = "0A";

    private LoopbackPort() {}

    /** One at which nothing listens, and which the kernel gives to no other socket before the program has taken it. */
    public static int free() {
        return ThreadLocalRandom.current()
                .ints(ATTEMPTS, FIRST, END)
                .filter(LoopbackPort::isFree)
                .findFirst()
                .orElseThrow(() -> {
                    String none = "no port of loopback from " + FIRST + " to " + (END - 1) + " is free";
                    return new UncheckedIOException(none, new IOException(none));
                });
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a socket listens on one. To connect would tell, too, but some programs take one connection only. */
    static boolean isListening(int port) {
        String suffix = String.format(Locale.ROOT, ":%04X", port);
        try {
            for (Path sockets : SOCKETS) {
                // Without IPv6 the second file is not there.
                if (Files.exists(sockets)
                        && Files.readAllLines(sockets).stream()
                                .map(line -> line.strip().split("\\s+"))
                                .anyMatch(fields -> fields.length > STATE
                                        && fields[LOCAL_ADDRESS].endsWith(suffix)
                                        && fields[STATE].equals(LISTENING))) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("the kernel does not tell who listens: " + e.getMessage(), e);
        }
    }
}
