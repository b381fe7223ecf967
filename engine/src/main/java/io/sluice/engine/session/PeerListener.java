package io.sluice.engine.session;

import io.sluice.engine.SluiceException;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.net.Inet6Address;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts sockets and gives each to a poller. */
final class PeerListener {
    private static final Logger LOG = LoggerFactory.getLogger(PeerListener.class);
    private static final int BACKLOG = 1024;
    private static final int ACCEPTS_A_CYCLE = 64;
    private static final long CROWDED_NANOS = 5_000_000L;
    private static final long EXHAUSTED_NANOS = 100_000_000L;

    private final LocalEngine engine;
    private final Poller loop;
    private final int descriptor;
    private final int port;
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

    private PeerListener(LocalEngine engine, Poller loop, int descriptor, int port) {
        this.engine = engine;
        this.loop = loop;
        this.descriptor = descriptor;
        this.port = port;
    }

    static PeerListener bind(LocalEngine engine, Poller loop, InetAddress host, int port) {
        boolean six = host instanceof Inet6Address;
        int descriptor = Sockets.openStream(six);
        int result = descriptor;
        if (result >= 0) {
            int scope = host instanceof Inet6Address address ? address.getScopeId() : 0;
            result = Sockets.bind(descriptor, host.getAddress(), scope, port);
        }
        if (result >= 0) {
            if (host.isLoopbackAddress()) {
                // for all that it accepts; goes without it where it cannot be had
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

    int port() {
        return port;
    }

    /** On the loop's thread. */
    void start() {
        watch = loop.watch(descriptor, (readable, writable) -> accept());
    }

    /** On the loop's thread. */
    void close() {
        EventLoop.Watch current = watch;
        if (current != null) {
            watch = null;
            loop.disarm(pause);
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
            if (!engine.handshakes().hasRoom()) {
                // they wait in the kernel's backlog, and are not turned away
                engine.handshakes().makeRoom(loop.now());
                rest(CROWDED_NANOS);
                return;
            }
            int accepted = Sockets.accept(descriptor);
            if (accepted == -Errno.EAGAIN) {
                return;
            }
            if (accepted == -Errno.ECONNABORTED) {
                // this one went away again; the next may be fine
                continue;
            }
            if (accepted < 0) {
                LOG.warn(
                        "cannot accept connections now: {}{}",
                        Errno.message(-accepted),
                        accepted == -Errno.EMFILE || accepted == -Errno.ENFILE
                                ? "; raise the limit of open files (ulimit -n)"
                                : "");
                rest(EXHAUSTED_NANOS);
                return;
            }
            begin(accepted);
        }
    }

    private void begin(int accepted) {
        engine.handshakes().accepted();
        try {
            Poller home = engine.nextPoller();
            home.execute(() -> IncomingBootstrap.begin(engine, home, accepted));
        } catch (RuntimeException | Error e) {
            LOG.debug("an accepted socket could not be handed over", e);
            engine.handshakes().neverBegan();
            Sockets.close(accepted);
        }
    }
}
