package io.sluice.vertx;

import io.sluice.engine.TransferElement;
import io.vertx.core.streams.ReadStream;

/** Elements of a stream, which is never asked for more than are taken. */
final class StreamedElements implements ElementSource {
    private final ReadStream<TransferElement> elements;

    StreamedElements(ReadStream<TransferElement> elements) {
        this.elements = elements.pause();
    }

    @Override
    public void begin(VectoredStream stream) {
        elements.exceptionHandler(stream::abort);
        elements.endHandler(nothing -> stream.elementsEnded());
        elements.handler(stream::element);
    }

    @Override
    public void request(long count) {
        elements.fetch(count);
    }

    @Override
    public void stop() {
        elements.pause();
        elements.handler(null);
    }
}
