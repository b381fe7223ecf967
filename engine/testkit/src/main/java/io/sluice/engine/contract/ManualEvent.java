package io.sluice.engine.contract;

import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An event that a test brings about; it records who asked for it. */
final class ManualEvent implements StartEvent {
    private final List<Listener> listeners = Collections.synchronizedList(new ArrayList<>());
    private volatile @Nullable Thread asked;

    @Override
    public void whenHappened(Listener listener) {
        asked = Thread.currentThread();
        listeners.add(listener);
    }

    void happen() {
        List.copyOf(listeners).forEach(listener -> listener.happened(null));
    }

    void fail(Throwable error) {
        List.copyOf(listeners).forEach(listener -> listener.happened(error));
    }

    int timesAsked() {
        return listeners.size();
    }

    @Nullable
    Thread asked() {
        return asked;
    }

    TransferOptions options() {
        return TransferOptions.defaults().startAfter(this);
    }
}
