package io.sluice.vertx;

import io.sluice.engine.TransferElement;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Elements that are all there. */
final class ListedElements implements ElementSource {
    private final Iterator<TransferElement> elements;
    private @Nullable VectoredStream stream;
    private volatile boolean stopped;

    ListedElements(List<TransferElement> elements) {
        this.elements = List.copyOf(elements).iterator();
    }

    @Override
    public void begin(VectoredStream taker) {
        stream = taker;
        if (!elements.hasNext()) {
            taker.elementsEnded();
        }
    }

    @Override
    public void request(long count) {
        VectoredStream taker = stream;
        if (taker == null || !elements.hasNext()) {
            return;
        }
        for (long given = 0; given < count && !stopped && elements.hasNext(); given++) {
            taker.element(elements.next());
        }
        if (!elements.hasNext()) {
            taker.elementsEnded();
        }
    }

    @Override
    public void stop() {
        stopped = true;
    }
}
