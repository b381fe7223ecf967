package io.sluice.engine.session;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.Connection;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.flow.EventLooks;
import io.sluice.engine.memory.RegionOwner;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.WorkRequest.Opcode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A vectored transfer whose elements go over several connections: one part for each. The parts' callbacks come from
 * several pollers; one poller at a time drains the results to the caller, so its callback is never called concurrently,
 * and no thread waits for another.
 */
final class SpanningTransfer implements Transfer {
    private static final Logger LOG = LoggerFactory.getLogger(SpanningTransfer.class);

    private final VectoredTransferCallback callback;
    private final @Nullable CompletionEvent completion;
    private final int elements;
    private final List<Part> parts = new ArrayList<>();
    private final MpscUnboundedAtomicArrayQueue<Outcome> outcomes = new MpscUnboundedAtomicArrayQueue<>(256);
    private final AtomicInteger untold = new AtomicInteger();
    private final EventLooks looks = new EventLooks();
    // it has ended, and nothing looks at its start event
    private final CompletableFuture<Void> unobserved = new CompletableFuture<>();
    private volatile boolean cancelled;
    private volatile boolean terminated;

    // confined to the thread that drains the results
    private int unfinishedParts;
    private int failed;
    private boolean silenced;
    private @Nullable SluiceException firstError;
    private @Nullable SluiceException wholeError;

    /** A result to deliver: an element's end, or a part's if the index is negative. */
    private record Outcome(int index, @Nullable SluiceException error) {}

    private SpanningTransfer(int elements, @Nullable CompletionEvent completion, VectoredTransferCallback callback) {
        this.elements = elements;
        this.completion = completion;
        this.callback = callback;
    }

    /** Checks everything, then starts everything. */
    static Transfer start(
            RegionOwner engine,
            Opcode operation,
            List<TransferElement> elements,
            TransferOptions options,
            VectoredTransferCallback callback) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(callback, "callback");
        if (elements.isEmpty()) {
            throw new IllegalArgumentException("a vectored transfer has at least one element");
        }
        Map<DefaultConnection, List<Integer>> byConnection = new LinkedHashMap<>();
        List<TransferElement> all = List.copyOf(elements);
        for (int i = 0; i < all.size(); i++) {
            byConnection
                    .computeIfAbsent(connection(engine, all.get(i)), connection -> new ArrayList<>())
                    .add(i);
        }
        SpanningTransfer transfer = new SpanningTransfer(all.size(), options.completeInto(), callback);
        StartEvent event = options.startAfter();
        CompletableFuture<Void> started = new CompletableFuture<>();
        TransferOptions ofParts = new TransferOptions(
                options.deadline(), options.priority(), event == null ? null : StartEvent.of(started), null);
        byConnection.forEach((connection, indices) -> transfer.add(connection, operation, all, indices, ofParts));
        transfer.unfinishedParts = transfer.parts.size();
        transfer.parts.forEach(Part::start);
        if (event != null) {
            transfer.await(event, started);
        }
        return transfer;
    }

    private static DefaultConnection connection(RegionOwner engine, TransferElement element) {
        if (element.remote().connection() instanceof DefaultConnection connection && connection.isOf(engine)) {
            return connection;
        }
        throw new IllegalArgumentException("the remote region was attached by another engine");
    }

    private void await(StartEvent event, CompletableFuture<Void> started) {
        try {
            event.whenHappened(new StartEvent.Listener() {
                @Override
                public void happened(@Nullable Throwable error) {
                    if (error == null) {
                        started.complete(null);
                    } else {
                        started.completeExceptionally(error);
                    }
                }

                @Override
                public boolean isAwaited() {
                    return !looks.haveEnded();
                }

                @Override
                public boolean look(Runnable look) {
                    return looks.look(look);
                }
            });
        } catch (RuntimeException | Error e) {
            started.completeExceptionally(e);
        }
    }

    private void add(
            DefaultConnection connection,
            Opcode operation,
            List<TransferElement> all,
            List<Integer> indices,
            TransferOptions options) {
        Part part = new Part(indices, connection.poller());
        List<TransferElement> mine = indices.stream().map(all::get).toList();
        part.transfer = operation == Opcode.WRITE
                ? connection.prepared().writeVectored(mine, options, part)
                : connection.prepared().readVectored(mine, options, part);
        parts.add(part);
    }

    /** The part of the transfer that goes over one connection. */
    private final class Part implements VectoredTransferCallback {
        private final List<Integer> indices;
        private final Poller poller;
        private @Nullable PreparedTransfer transfer;

        Part(List<Integer> indices, Poller poller) {
            this.indices = indices;
            this.poller = poller;
        }

        PreparedTransfer transfer() {
            PreparedTransfer mine = transfer;
            if (mine == null) {
                throw new IllegalStateException("a part without a transfer");
            }
            return mine;
        }

        void start() {
            try {
                transfer().start();
            } catch (SluiceException e) {
                // on the poller: a callback that tries again must not deepen the caller's stack
                poller.execute(() -> {
                    indices.forEach(index -> tell(new Outcome(index, e)));
                    tell(new Outcome(-1, e));
                });
            }
        }

        @Override
        public void element(int index, @Nullable SluiceException error) {
            tell(new Outcome(indices.get(index), error));
        }

        @Override
        public void terminated(Transfer part, @Nullable SluiceException error) {
            tell(new Outcome(-1, error));
        }
    }

    private void tell(Outcome outcome) {
        outcomes.offer(outcome);
        if (untold.getAndIncrement() != 0) {
            return;
        }
        int told = 1;
        do {
            for (int i = 0; i < told; i++) {
                deliver(outcomes.poll());
            }
            told = untold.addAndGet(-told);
        } while (told != 0);
    }

    private void deliver(@Nullable Outcome outcome) {
        if (outcome == null) {
            return;
        }
        SluiceException error = outcome.error();
        if (outcome.index() < 0) {
            if (error instanceof TransferTimeoutException
                    || error instanceof TransferCancelledException
                    || error instanceof StartEventException) {
                wholeError = error;
            }
            if (--unfinishedParts == 0) {
                terminate();
            }
            return;
        }
        if (error != null) {
            failed++;
            if (firstError == null) {
                firstError = error;
            }
        }
        if (cancelled) {
            silenced = true;
        } else {
            call(() -> callback.element(outcome.index(), error));
        }
    }

    private void terminate() {
        SluiceException error = outcome();
        terminated = true;
        CompletableFuture<Void> underWay = looks.end();
        CompletionEvent event = completion;
        if (event != null) {
            call(() -> event.complete(error));
        }
        call(() -> callback.terminated(this, error));
        if (underWay == null) {
            unobserved.complete(null);
        } else {
            underWay.whenComplete((nothing, never) -> unobserved.complete(null));
        }
    }

    private @Nullable SluiceException outcome() {
        if (silenced) {
            return new TransferCancelledException("the transfer was cancelled");
        }
        if (wholeError != null) {
            return wholeError;
        }
        SluiceException first = firstError;
        return first == null ? null : new ElementsFailedException(failed, elements, first);
    }

    private void call(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            LOG.error("the callback of a vectored transfer over {} connections threw an exception", parts.size(), e);
        }
    }

    @Override
    public Connection connection() {
        return parts.getFirst().transfer().connection();
    }

    @Override
    public void cancel() {
        cancelled = true;
        parts.forEach(part -> part.transfer().cancel());
    }

    @Override
    public boolean isTerminated() {
        return terminated;
    }

    @Override
    public CompletableFuture<Void> quiesced() {
        return CompletableFuture.allOf(Stream.concat(
                        Stream.of(unobserved),
                        parts.stream().map(part -> part.transfer().quiesced()))
                .toArray(CompletableFuture<?>[]::new));
    }
}
