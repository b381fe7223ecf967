package io.sluice.experts;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.CommWait;
import io.sluice.experts.backend.SymmetricMemory;
import org.jspecify.annotations.Nullable;

/** A word that another rank adds to. Looking for a value that is not reached makes the buffer look again when it is. */
final class Word implements CommCallback {
    private final BufferHost host;
    private final CommWait wait;
    private boolean armed;
    private long armedFor;

    Word(BufferHost host, CommBackend backend, SymmetricMemory memory, long offset) {
        this.host = host;
        this.wait = backend.await(memory, offset, this);
    }

    long value() {
        return wait.value();
    }

    /** Whether it has reached a value; if not, the host is signalled when it has. */
    boolean reached(long value) {
        if (wait.value() >= value) {
            return true;
        }
        if (armed && armedFor > value && wait.disarm()) {
            armed = false;
        }
        if (!armed) {
            armed = true;
            armedFor = value;
            wait.arm(value);
        }
        return false;
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        armed = false;
        // after an error the memory is freed, and so is the buffer
        host.signal();
    }

    void close() {
        wait.close();
    }
}
