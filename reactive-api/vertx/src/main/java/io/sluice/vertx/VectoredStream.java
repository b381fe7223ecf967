package io.sluice.vertx;

import io.sluice.engine.Connection;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.streams.ReadStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A vectored transfer: submits each element of its source and emits one result for each. */
final class VectoredStream extends DemandStream<TransferResult> implements TransferResultStream {
    /** Submits one element on a connection. */
    interface Submission {
        Transfer submit(Connection over, TransferElement element, TransferOptions options, TransferCallback callback);

        static Transfer write(Connection over, TransferElement e, TransferOptions options, TransferCallback callback) {
            return over.write(e.local(), e.localOffset(), e.remote(), e.remoteOffset(), e.length(), options, callback);
        }

        static Transfer read(Connection over, TransferElement e, TransferOptions options, TransferCallback callback) {
            return over.read(e.local(), e.localOffset(), e.remote(), e.remoteOffset(), e.length(), options, callback);
        }
    }

    /** The source of elements. Called on the stream's context; {@link #stop()} by any thread. */
    interface Source {
        void begin(VectoredStream stream);

        void request(VectoredStream stream, long count);

        void stop();
    }

    /** A list of elements. */
    static final class Listed implements Source {
        private final Iterator<TransferElement> elements;
        private volatile boolean stopped;

        Listed(List<TransferElement> elements) {
            this.elements = List.copyOf(elements).iterator();
        }

        @Override
        public void begin(VectoredStream stream) {
            if (!elements.hasNext()) {
                stream.elementsEnded();
            }
        }

        @Override
        public void request(VectoredStream stream, long count) {
            if (!elements.hasNext()) {
                return;
            }
            for (long given = 0; given < count && !stopped && elements.hasNext(); given++) {
                stream.element(elements.next());
            }
            if (!elements.hasNext()) {
                stream.elementsEnded();
            }
        }

        @Override
        public void stop() {
            stopped = true;
        }
    }

    /** The elements of a stream, of which no more are requested than are submitted. */
    static final class Streamed implements Source {
        private final ReadStream<TransferElement> elements;

        Streamed(ReadStream<TransferElement> elements) {
            this.elements = elements.pause();
        }

        @Override
        public void begin(VectoredStream stream) {
            elements.exceptionHandler(stream::abort);
            elements.endHandler(nothing -> stream.elementsEnded());
            elements.handler(stream::element);
        }

        @Override
        public void request(VectoredStream stream, long count) {
            elements.fetch(count);
        }

        @Override
        public void stop() {
            elements.pause();
            elements.handler(null);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(VectoredStream.class);

    private final ContextMailbox mailbox;
    private final OpenWork<DemandStream<?>> streams;
    private final Source source;
    private final BiFunction<TransferElement, TransferCallback, Transfer> submission;

    /** The submitted elements that may still access memory. Guards the fields below as well. */
    private final Set<Element> underWay = new HashSet<>();

    private boolean stopping;
    private boolean elementsEnded;
    private int unended;
    private long submitted;

    // confined to the context
    private int failed;
    private @Nullable SluiceException firstError;

    VectoredStream(
            ContextMailbox mailbox,
            OpenWork<DemandStream<?>> streams,
            int limit,
            Source source,
            BiFunction<TransferElement, TransferCallback, Transfer> submission) {
        super(mailbox.context(), limit);
        this.mailbox = mailbox;
        this.streams = streams;
        this.source = source;
        this.submission = submission;
    }

    @Override
    void begin() {
        if (!streams.add(this)) {
            finish(OpenWork.clientClosed());
            return;
        }
        source.begin(this);
    }

    @Override
    void request(long count) {
        source.request(this, count);
    }

    /** The source delivers a requested element. On the context. */
    void element(TransferElement given) {
        Element element;
        synchronized (underWay) {
            if (stopping) {
                return;
            }
            element = new Element((int) (submitted & Integer.MAX_VALUE), given.length());
            submitted++;
            unended++;
            underWay.add(element);
        }
        try {
            element.submitted(submission.apply(given, element));
        } catch (SluiceException refused) {
            element.neverSubmitted();
            elementEnded(element, refused);
        } catch (RuntimeException mistake) {
            element.neverSubmitted();
            abort(mistake);
        }
    }

    /** The source has no more elements. */
    void elementsEnded() {
        boolean all;
        synchronized (underWay) {
            elementsEnded = true;
            all = unended == 0 && !stopping;
        }
        if (all) {
            finished();
        }
    }

    /** Ends the stream with an error and cancels what is in flight. */
    void abort(Throwable error) {
        stop();
        finish(error);
    }

    @Override
    void clientClosed() {
        endNow(OpenWork.clientClosed());
    }

    /** An element has ended or was refused. Any thread. */
    private void elementEnded(Element element, @Nullable SluiceException error) {
        boolean wanted;
        synchronized (underWay) {
            wanted = !stopping;
            if (error == null) {
                underWay.remove(element);
            }
        }
        if (wanted) {
            arrived(new TransferResult(element.index, error == null ? element.bytes : 0, error));
        }
        boolean last;
        synchronized (underWay) {
            unended--;
            last = unended == 0 && elementsEnded && !stopping;
        }
        if (last) {
            finished();
        }
    }

    private void finished() {
        streams.remove(this);
        finish(null);
    }

    @Override
    void stop() {
        streams.remove(this);
        List<Element> cancelled;
        synchronized (underWay) {
            if (stopping) {
                return;
            }
            stopping = true;
            cancelled = new ArrayList<>(underWay);
        }
        cancelled.forEach(Element::cancel);
        try {
            source.stop();
        } catch (RuntimeException refused) {
            // the source may be the user's; even if it throws, this stream has stopped
            LOG.warn("The stream of elements {} threw while it was stopped; the transfer has ended", source, refused);
        }
    }

    @Override
    void handing(TransferResult result) {
        SluiceException error = result.error();
        if (error != null) {
            failed += failed == Integer.MAX_VALUE ? 0 : 1;
            firstError = firstError == null ? error : firstError;
        }
    }

    @Override
    @Nullable
    Throwable verdict() {
        SluiceException first = firstError;
        if (first == null) {
            return null;
        }
        synchronized (underWay) {
            return new ElementsFailedException(failed, (int) Math.min(submitted, Integer.MAX_VALUE), first);
        }
    }

    @Override
    public void cancel() {
        endNow(new TransferCancelledException("the vectored transfer was cancelled"));
    }

    @Override
    public Future<Void> quiesced() {
        List<CompletableFuture<Void>> quiescing = new ArrayList<>();
        synchronized (underWay) {
            underWay.forEach(element -> quiescing.add(element.quiescence()));
        }
        return mailbox.whenEnded(CompletableFuture.allOf(quiescing.toArray(CompletableFuture[]::new)));
    }

    /** An element from its submission until nothing of it can access memory. */
    private final class Element implements TransferCallback {
        private final int index;
        private final long bytes;
        private volatile @Nullable Transfer transfer;

        /** Completes for callers that asked during the submission. Guarded by the set of submitted elements. */
        private @Nullable CompletableFuture<Void> asked;

        Element(int index, long bytes) {
            this.index = index;
            this.bytes = bytes;
        }

        void submitted(Transfer submission) {
            boolean late;
            CompletableFuture<Void> waiting;
            synchronized (underWay) {
                transfer = submission;
                late = stopping;
                waiting = asked;
            }
            if (waiting != null) {
                submission.quiesced().whenComplete((nothing, never) -> waiting.complete(null));
            }
            if (late) {
                submission.cancel();
            }
        }

        void cancel() {
            Transfer submission = transfer;
            if (submission != null) {
                submission.cancel();
            }
        }

        /** While another thread submits the element, its transfer is not known yet. Called with the lock held. */
        CompletableFuture<Void> quiescence() {
            Transfer submission = transfer;
            if (submission != null) {
                return submission.quiesced();
            }
            CompletableFuture<Void> waiting = asked == null ? new CompletableFuture<>() : asked;
            asked = waiting;
            return waiting;
        }

        void neverSubmitted() {
            CompletableFuture<Void> waiting;
            synchronized (underWay) {
                underWay.remove(this);
                waiting = asked;
            }
            if (waiting != null) {
                waiting.complete(null);
            }
        }

        private void quiesced() {
            synchronized (underWay) {
                underWay.remove(this);
            }
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            if (error != null) {
                transfer = ended;
                ended.quiesced().whenComplete((nothing, never) -> quiesced());
            }
            elementEnded(this, error);
        }
    }
}
