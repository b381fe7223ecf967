package io.sluice.vertx;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A vectored transfer: each element that its source gives becomes a transfer, and each gives a result. */
final class VectoredStream extends DemandStream<TransferResult> implements TransferResultStream {
    /** Submits one element. */
    @FunctionalInterface
    interface Submission {
        Transfer submit(TransferElement element, TransferCallback callback);
    }

    private static final Logger LOG = LoggerFactory.getLogger(VectoredStream.class);

    private final ContextMailbox mailbox;
    private final OpenStreams streams;
    private final ElementSource source;
    private final Submission submission;

    /** What was submitted and may still touch memory. Guards what follows, too. */
    private final Set<Element> underWay = new HashSet<>();

    private boolean stopping;
    private boolean elementsEnded;
    private int unended;
    private long submitted;

    // Written and read on the context.
    private int failed;
    private @Nullable SluiceException firstError;

    VectoredStream(
            ContextMailbox mailbox, OpenStreams streams, int limit, ElementSource source, Submission submission) {
        super(mailbox.context(), limit);
        this.mailbox = mailbox;
        this.streams = streams;
        this.source = source;
        this.submission = submission;
    }

    @Override
    void begin() {
        if (!streams.add(this)) {
            finish(TransfersUnderWay.closed());
            return;
        }
        source.begin(this);
    }

    @Override
    void request(long count) {
        source.request(count);
    }

    /** The source gives an element that was asked for. On the context. */
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
            element.submitted(submission.submit(given, element));
        } catch (SluiceException refused) {
            element.neverSubmitted();
            elementEnded(element, refused);
        } catch (RuntimeException mistake) {
            element.neverSubmitted();
            abort(mistake);
        }
    }

    /** The source has no further element. */
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

    /** Ends it with an error, and cancels what is in flight. */
    void abort(Throwable error) {
        stop();
        finish(error);
    }

    @Override
    void clientClosed() {
        endNow(TransfersUnderWay.closed());
    }

    /** An element has ended, or was refused. Any thread. */
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
            // The source may be the user's; even if it throws, this stream has stopped.
            LOG.warn("A stream of elements could not be stopped", refused);
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

    /** One element from its submission until nothing of it can touch memory. */
    private final class Element implements TransferCallback {
        private final int index;
        private final long bytes;
        private volatile @Nullable Transfer transfer;

        /** Of whoever asked while it was being submitted. Guarded by what is under way. */
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

        /** Of one that is being submitted at this moment, by another thread, nothing is known yet. With the lock. */
        CompletableFuture<Void> quiescence() {
            Transfer submission = transfer;
            if (submission != null) {
                return submission.quiesced();
            }
            CompletableFuture<Void> waiting = asked == null ? new CompletableFuture<>() : asked;
            asked = waiting;
            return waiting;
        }

        /** It was refused. */
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
