package io.sluice.engine.contract;

import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Keeps the notifications that came. */
final class RecordingListener implements NotificationListener {
    private final List<byte[]> payloads = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Optional<SluiceException>> ended = new CompletableFuture<>();
    private final Consumer<byte[]> then;

    RecordingListener() {
        this(payload -> {});
    }

    RecordingListener(Consumer<byte[]> then) {
        this.then = then;
    }

    @Override
    public void notification(byte[] payload) {
        payloads.add(payload);
        then.accept(payload);
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        ended.complete(Optional.ofNullable(error));
    }

    List<byte[]> payloads() {
        return payloads;
    }

    int count() {
        return payloads.size();
    }

    /** Empty if the connection was closed in order. */
    CompletableFuture<Optional<SluiceException>> end() {
        return ended;
    }
}
