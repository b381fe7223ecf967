package io.sluice.engine.control;

import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Sockets;

/** Watches a descriptor that has no other owner yet. */
final class SocketWatch {
    private SocketWatch() {}

    /** Watches, or closes the descriptor and throws: a loop that has ended watches nothing. */
    static EventLoop.Watch orClose(EventLoop loop, int descriptor, EventLoop.ReadinessHandler handler) {
        try {
            return loop.watch(descriptor, handler);
        } catch (RuntimeException | Error e) {
            Sockets.close(descriptor);
            throw e;
        }
    }
}
