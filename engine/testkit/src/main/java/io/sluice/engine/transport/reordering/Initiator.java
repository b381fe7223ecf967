package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.BiConsumer;

/** The requests that this side has posted to one lane, until they are answered, in any order. */
final class Initiator {
    private final OutboundPackets out;
    private final BiConsumer<WorkRequest, CompletionStatus> completed;
    private final SequencedMap<Long, SentRequest> outstanding = new LinkedHashMap<>();
    private long next;

    Initiator(OutboundPackets out, BiConsumer<WorkRequest, CompletionStatus> completed) {
        this.out = out;
        this.completed = completed;
    }

    void post(WorkRequest request) {
        SentRequest sent = new SentRequest(next, request);
        outstanding.put(next, sent);
        next++;
        out.add(sent);
    }

    boolean isIdle() {
        return outstanding.isEmpty();
    }

    /** A packet of an answer. */
    void deliver(Packet packet) {
        SentRequest sent = outstanding.get(packet.request());
        if (sent == null) {
            // a refusal overtakes bytes that were sent before it; they come too late for anything
            if (packet.kind() != PacketKind.DATA || packet.request() < 0 || packet.request() >= next) {
                throw new ProtocolException("the peer answers a request that was not made");
            }
            return;
        }
        if (packet.kind() == PacketKind.ANSWER) {
            sent.answered(packet);
        } else if (!sent.place(packet)) {
            return;
        }
        outstanding.remove(packet.request());
        completed.accept(sent.request(), sent.status());
    }

    /** Ends all that is outstanding, in the order of posting. */
    void close() {
        while (!outstanding.isEmpty()) {
            SentRequest first = outstanding.pollFirstEntry().getValue();
            completed.accept(
                    first.request(), first.isBegun() ? CompletionStatus.FLUSHED : CompletionStatus.FLUSHED_UNSENT);
        }
    }
}
