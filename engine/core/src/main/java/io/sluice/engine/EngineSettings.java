package io.sluice.engine;

import io.sluice.engine.transport.TransportOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of all settings; initially the defaults. Every value is immutable, so copies share them. A builder changes its
 * own copy; that of built options does not change.
 */
final class EngineSettings implements Cloneable {
    static final int MIN_WINDOW_BYTES = 64 * 1024;

    @Nullable
    String name;

    @Nullable
    String listenHost = "127.0.0.1";

    int listenPort;

    @Nullable
    String advertisedHost;

    int advertisedPort;
    List<String> transports = List.of();
    int pollers = 1;
    int windowOperations = 256;
    long windowBytes = 64L << 20;
    int engineWindowOperations = 65_536;
    long engineWindowBytes = 1L << 30;
    int maxPending = 65_536;
    int maxConnections = 4096;
    int maxHandshakesPerSecond = 2000;
    int maxHalfOpen = 256;
    Duration handshakeTimeout = Duration.ofSeconds(10);
    int maxServedRequests = 4096;
    long servedWindowBytes = 256L << 20;
    int lanes = 1;
    Duration livenessTimeout = Duration.ofSeconds(10);
    Duration connectTimeout = Duration.ofSeconds(10);
    int notificationCredits = 256;
    int maxNotificationBytes = 64 * 1024;
    int maxAttachedRegions = 65_536;
    Duration spin = Duration.ofNanos(50_000);
    Duration yield = Duration.ofMillis(1);
    Duration stallThreshold = Duration.ofMillis(200);
    Duration slowTransfer = Duration.ofSeconds(1);
    List<EngineObserver> observers = List.of();
    Duration priorityAging = Duration.ofMillis(100);
    Integrity integrity = Integrity.NONE;
    int socketBufferBytes;

    @Nullable
    TokenSource tokens;

    @Nullable
    TlsOptions tls;

    @Nullable
    PeerAuthorizer authorizer;

    PathPolicy pathPolicy = PathPolicy.inOrder();
    boolean allowUnauthenticatedPeers;
    Map<Class<? extends TransportOptions>, TransportOptions> transportOptions = Map.of();
    Map<String, String> variables = Map.of();

    EngineSettings copy() {
        try {
            return (EngineSettings) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    static int between(String name, int value, int lowest, int highest) {
        return (int) between(name, (long) value, lowest, highest);
    }

    static long between(String name, long value, long lowest, long highest) {
        if (value < lowest || value > highest) {
            throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
        }
        return value;
    }

    static Duration between(String name, Duration value, Duration lowest, Duration highest) {
        if (value.compareTo(lowest) < 0 || value.compareTo(highest) > 0) {
            throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
        }
        return value;
    }
}
