package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.EventLoop;
import java.lang.reflect.Proxy;

/** Staged sends for tests that use host memory only. */
final class NoDevices {
    private NoDevices() {}

    static StagedSends sends() {
        return new StagedSends(loop(), () -> {});
    }

    static StagedReceives receives() {
        return new StagedReceives(loop(), () -> {});
    }

    private static EventLoop loop() {
        return (EventLoop) Proxy.newProxyInstance(
                NoDevices.class.getClassLoader(), new Class<?>[] {EventLoop.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
    }
}
