package io.sluice.engine.bootstrap;

import io.sluice.engine.RefusalReason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.control.Frame;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.security.RefusedBeforeTlsException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.net.Inet6Address;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Accepts sockets and passes each to a poller once there is a place for it. All are accepted immediately, as the
 * kernel's queue does not distinguish addresses and one address could fill it.
 */
public final class PeerListener {
    private static final int BACKLOG = 1024;
    private static final int ACCEPTS_A_CYCLE = 64;
    private static final long CROWDED_NANOS = 5_000_000L;
    private static final long EXHAUSTED_NANOS = 100_000_000L;
    private static final int DROPPED_WHEN_EXHAUSTED = 64;
    private static final String CROWDED =
            "too many peers are connecting at once (maxHalfOpen), most of them from one address";

    private final BootstrapContext engine;
    private final Poller loop;
    private final int descriptor;
    private final int port;
    private final WaitingSockets waiting = new WaitingSockets(BACKLOG);
    private EventLoop.@Nullable Watch watch;

    // out of descriptors: without a pause the waiting socket would keep this loop busy for nothing
    private final Deadline pause = new Deadline() {
        @Override
        protected void expired() {
            if (watch != null) {
                watch.interest(true, false);
            }
        }
    };

    private final Deadline crowd = new Deadline() {
        @Override
        protected void expired() {
            if (watch != null) {
                crowded();
            }
        }
    };

    private PeerListener(BootstrapContext engine, Poller loop, int descriptor, int port) {
        this.engine = engine;
        this.loop = loop;
        this.descriptor = descriptor;
        this.port = port;
    }

    public static PeerListener bind(BootstrapContext engine, Poller loop, InetAddress host, int port) {
        boolean six = host instanceof Inet6Address;
        int descriptor = Sockets.openStream(six);
        int result = descriptor;
        if (result >= 0) {
            int scope = host instanceof Inet6Address address ? address.getScopeId() : 0;
            result = Sockets.bind(descriptor, host.getAddress(), scope, port);
        }
        if (result >= 0) {
            if (host.isLoopbackAddress()) {
                // for all that it accepts; goes without it where it is not available
                Sockets.setUnpaced(descriptor);
            }
            result = Sockets.listen(descriptor, BACKLOG);
        }
        if (result >= 0) {
            result = Sockets.localPort(descriptor);
        }
        if (result < 0) {
            if (descriptor >= 0) {
                Sockets.close(descriptor);
            }
            throw new SluiceException("cannot listen on " + host.getHostAddress() + " port " + port + ": "
                    + Errno.message(-result)
                    + (result == -Errno.EADDRINUSE ? "; choose another port, or 0 for any free one" : ""));
        }
        return new PeerListener(engine, loop, descriptor, result);
    }

    public int port() {
        return port;
    }

    /** Starts listening. On the loop's thread. */
    public void start() {
        watch = loop.watch(descriptor, (readable, writable) -> accept());
    }

    /** Stops listening. On the loop's thread. */
    public void close() {
        EventLoop.Watch current = watch;
        if (current != null) {
            watch = null;
            loop.disarm(pause);
            loop.disarm(crowd);
            for (int each = waiting.dropOne(); each != WaitingSockets.NONE; each = waiting.dropOne()) {
                Sockets.close(each);
            }
            current.cancel();
            Sockets.close(descriptor);
        }
    }

    private void rest(long nanos) {
        EventLoop.Watch current = watch;
        if (current != null) {
            current.interest(false, false);
            loop.arm(pause, loop.now() + nanos);
        }
    }

    private void accept() {
        for (int i = 0; i < ACCEPTS_A_CYCLE; i++) {
            int accepted = Sockets.accept(descriptor);
            if (accepted == -Errno.EAGAIN) {
                return;
            }
            if (accepted == -Errno.ECONNABORTED) {
                // this one went away again; the next may be fine
                continue;
            }
            if (accepted < 0) {
                exhausted(accepted);
                return;
            }
            arrived(accepted);
        }
    }

    private void exhausted(int error) {
        boolean descriptors = error == -Errno.EMFILE || error == -Errno.ENFILE;
        engine.handshakes()
                .log()
                .log(
                        Level.WARN,
                        "cannot accept connections now: " + Errno.message(-error)
                                + (descriptors ? "; raise the limit of open files (ulimit -n)" : ""),
                        null);
        // idle waiting sockets must not keep descriptors from active connections
        int dropped = waiting.dropOne();
        for (int i = 0; i < DROPPED_WHEN_EXHAUSTED && dropped != WaitingSockets.NONE; i++) {
            turnAway(dropped);
            dropped = i + 1 < DROPPED_WHEN_EXHAUSTED ? waiting.dropOne() : WaitingSockets.NONE;
        }
        rest(EXHAUSTED_NANOS);
    }

    private void arrived(int accepted) {
        long source = SourceAddress.of(accepted);
        // behind those of its own that wait
        if (!waiting.hasOf(source) && begin(source, accepted)) {
            return;
        }
        int dropped;
        try {
            dropped = waiting.add(source, accepted);
        } catch (OutOfMemoryError e) {
            dropped = accepted;
        }
        if (dropped != WaitingSockets.NONE) {
            turnAway(dropped);
        }
        if (crowd.place() == Deadline.NOT_ARMED) {
            loop.arm(crowd, loop.now() + CROWDED_NANOS);
        }
    }

    private void crowded() {
        engine.handshakes().makeRoom(loop.now(), waiting::hasOf);
        waiting.offer(this::begin);
        if (!waiting.isEmpty()) {
            loop.arm(crowd, loop.now() + CROWDED_NANOS);
        }
    }

    /** False if there is no place for it yet. */
    private boolean begin(long source, int accepted) {
        SourceShare share = engine.handshakes().takeSlot(source, loop.now());
        if (share == null) {
            return false;
        }
        try {
            Poller home = engine.sessions().nextPoller();
            home.execute(() -> IncomingBootstrap.begin(engine, home, accepted, share));
        } catch (RuntimeException | Error e) {
            engine.handshakes().log().log(Level.WARN, "an accepted socket could not be handed over: " + e, null);
            engine.handshakes().abandoned(share);
            Sockets.close(accepted);
        }
        return true;
    }

    /** Refuses a peer because too many wait, and tells it so if that is possible without waiting. */
    private void turnAway(int accepted) {
        engine.handshakes().refused(RefusalReason.HALF_OPEN);
        engine.handshakes().log().log(Level.DEBUG, "a connection was rejected: " + CROWDED, null);
        try {
            Frame.sendLast(
                    accepted,
                    engine.credentials().tls() == null
                            ? Frame.of(MessageType.REJECT, Rejection.write(Rejection.HALF_OPEN, CROWDED))
                            : RefusedBeforeTlsException.sign(),
                    engine.handshakes().buffers());
        } catch (OutOfMemoryError e) {
            // it finds the socket closed
        } finally {
            Sockets.close(accepted);
        }
    }
}
