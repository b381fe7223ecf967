package io.sluice.experts.sluice;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommWait;
import org.jspecify.annotations.Nullable;

/** A wait for a signal of this rank's region. */
final class SluiceWait implements CommWait, SignalCallback {
    private final Signal word;
    private final EngineLoop loop;
    private final CommCallback callback;
    private @Nullable SignalWait wait;
    private boolean armed;
    private boolean closed;

    SluiceWait(Signal word, EngineLoop loop, CommCallback callback) {
        this.word = word;
        this.loop = loop;
        this.callback = callback;
    }

    @Override
    public long value() {
        return word.value();
    }

    @Override
    public void arm(long atLeast) {
        if (armed || closed) {
            throw new IllegalStateException(closed ? "the wait is closed" : "it waits already");
        }
        armed = true;
        SignalWait created = wait;
        if (created == null) {
            wait = word.onAtLeast(atLeast, loop, this);
        } else {
            created.arm(atLeast);
        }
    }

    @Override
    public boolean disarm() {
        SignalWait created = wait;
        if (armed && created != null && created.disarm()) {
            armed = false;
            return true;
        }
        return false;
    }

    @Override
    public void reached(SignalWait reached, long value, @Nullable SluiceException error) {
        armed = false;
        if (!closed) {
            callback.ended(error);
        }
    }

    @Override
    public void close() {
        closed = true;
        SignalWait created = wait;
        if (created != null) {
            created.close();
        }
    }
}
