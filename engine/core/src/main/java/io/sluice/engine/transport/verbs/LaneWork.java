package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.DmaBufferMemory.Flush;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.VerbsQueuePair;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Posts the work requests of a lane, through the adapter or as messages, and completes them as the send queue
 * completes.
 */
@SuppressWarnings("ReferenceEquality") // requests are their own identities
final class LaneWork {
    private final LaneContext context;
    private final LoopLanes shared;
    private final LaneSendQueue queue;
    private final SendRing places;
    private final LaneMessages messages;
    private final LaneRequests requests;
    private final LaneVisibility visibility;
    private final LaneFault fault;
    private SignalTable definedSignals = new SignalTable();
    private int postRefusals;

    LaneWork(
            LaneContext context,
            LoopLanes shared,
            LaneSendQueue queue,
            LaneMessages messages,
            LaneRequests requests,
            LaneVisibility visibility,
            LaneFault fault) {
        this.context = context;
        this.shared = shared;
        this.queue = queue;
        this.places = queue.places();
        this.messages = messages;
        this.requests = requests;
        this.visibility = visibility;
        this.fault = fault;
    }

    // ---- posting ----

    /** Adds a request to the batch, or to the messages. */
    void post(WorkRequest request) {
        requests.begin(request);
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        switch (request.operation()) {
            case WRITE -> write(request);
            case READ -> queue.transfer(VerbsQueuePair.READ, request, request);
            case PUT -> queue.put(request);
            case SIGNAL, FETCH_ADD, COMPARE_AND_SWAP -> {
                if (remote.hasAdapterAtomics()) {
                    queue.atomic(request);
                    if (request.operation() == WorkRequest.Opcode.SIGNAL) {
                        wake(remote, request.remoteOffset());
                    }
                } else {
                    ask(request);
                }
            }
        }
        if (request.operation().changesRemote()) {
            visibility.written();
        }
    }

    private void write(WorkRequest request) {
        if (!request.hasSignal()) {
            queue.transfer(VerbsQueuePair.WRITE, request, request);
            return;
        }
        VerbsRemoteKey signal = (VerbsRemoteKey) request.signal();
        if (signal.hasAdapterAtomics()) {
            queue.transfer(VerbsQueuePair.WRITE, request, LaneSendQueue.PART);
            queue.signalOf(request);
            wake(signal, request.signalOffset());
            return;
        }
        int number = SignalTable.number(request);
        if (!definedSignals.define(number, request)) {
            messages.enqueue(messages.message(VerbsMessage.DEFINE_SIGNAL)
                    .word(number)
                    .word(signal.handle())
                    .word(signal.key())
                    .word(signal.epoch())
                    .word(request.signalOffset())
                    .word(request.signalAddend()));
        }
        messages.enqueue(messages.message(VerbsMessage.WRITE_WITH_SIGNAL)
                .immediate(number)
                .request(shared.answer().begin(request, true)));
    }

    /**
     * Tells the peer's engine about a word that no processor of its host has changed; the message follows the change.
     */
    private void wake(VerbsRemoteKey key, long offset) {
        messages.enqueue(messages.message(VerbsMessage.WAKE)
                .word(key.handle())
                .word(key.key())
                .word(key.epoch())
                .word(offset));
    }

    /** Sends a request that the peer's engine executes. */
    private void ask(WorkRequest request) {
        int type = switch (request.operation()) {
            case SIGNAL -> VerbsMessage.SIGNAL;
            case FETCH_ADD -> VerbsMessage.FETCH_ADD;
            default -> VerbsMessage.COMPARE_AND_SWAP;
        };
        VerbsMessage message = messages.message(type)
                .word(request.remote().handle())
                .word(request.remote().key())
                .word(request.remote().epoch())
                .word(request.remoteOffset())
                .word(request.operand());
        if (type == VerbsMessage.COMPARE_AND_SWAP) {
            message.word(request.expected());
        }
        messages.enqueue(message.request(shared.answer().begin(request, false)));
    }

    /** The adapter took no more requests. */
    void postRefused(String reason) {
        if (++postRefusals > LaneFault.MAX_BREAKS) {
            context.failed(reason);
        }
    }

    // ---- completions ----

    /** Everything before a slot of the send queue has completed. */
    void retireTo(long end) {
        Flush flushed = null;
        while (places.first() < end) {
            long place = places.first();
            Object done = places.removeFirst();
            if (done instanceof WorkRequest request) {
                if (request.operation().bringsBack()) {
                    context.count(WireCounter.RECEIVED, request.length());
                    flushed = flush(request, flushed);
                }
                if (request.operation().isFetching()) {
                    request.fetched(queue.fetched(place));
                }
                postRefusals = 0;
                requests.complete(request, CompletionStatus.SUCCESS);
            } else if (done instanceof AwaitedAnswer request) {
                request.leftTheWire();
                requests.completeAnswered();
            } else if (done instanceof VisibilityRequest request) {
                visibility.arrived(request);
            } else if (done instanceof LaneSendQueue.Probe probe) {
                probe.returned();
            }
        }
    }

    /** Makes the bytes of a read visible to their device, and those of all reads that have arrived there. */
    private static @Nullable Flush flush(WorkRequest read, @Nullable Flush before) {
        Flush device = read.registration() instanceof RailRegistration local ? local.flush() : null;
        if (device == null || device.equals(before)) {
            return before;
        }
        device.flush();
        return device;
    }

    /** The request in the first slot of the send queue has failed. */
    void blame(int status) {
        fault.blame(places, status);
    }

    // ---- when the lane breaks ----

    /** Posts the entries of a broken send queue again, except for those that must not be executed twice. */
    void takeUnfinished(List<WorkRequest> again) {
        while (!places.isEmpty()) {
            Object unfinished = places.removeFirst();
            if (unfinished == fault.failedRequest()) {
                continue;
            }
            if (unfinished instanceof WorkRequest request) {
                if (request.operation().isAtomic() || request.hasSignal()) {
                    requests.complete(request, CompletionStatus.OUTCOME_UNKNOWN);
                } else {
                    requests.giveUp(request, again);
                }
            } else if (unfinished instanceof AwaitedAnswer answer) {
                // the queue pair is gone; the peer reports whether the write arrived
                answer.leftTheWire();
            } else if (unfinished instanceof VisibilityRequest request) {
                visibility.putBack(request);
            }
        }
    }

    /** Ends the request that broke the lane, if any. */
    void finish(@Nullable Object failedRequest) {
        requests.end(failedRequest, fault.status());
        fault.ended();
    }

    /** Other lanes take over: the peer forgets the signals defined here, and no writes precede a read any more. */
    void handOver(@Nullable Object failedRequest) {
        definedSignals = new SignalTable();
        finish(failedRequest);
        visibility.letGo();
    }

    /** The lane is closed and its queue pair is gone: completes every request. */
    void close() {
        Object failedRequest = fault.takeCulprit();
        while (!places.isEmpty()) {
            if (places.removeFirst() instanceof WorkRequest request) {
                requests.complete(request, request == failedRequest ? fault.status() : CompletionStatus.FLUSHED);
            }
        }
        AwaitedAnswer sent;
        while ((sent = requests.awaited().poll()) != null) {
            requests.complete(sent.request(), sent.isAnswered() ? sent.status() : CompletionStatus.FLUSHED);
        }
    }
}
