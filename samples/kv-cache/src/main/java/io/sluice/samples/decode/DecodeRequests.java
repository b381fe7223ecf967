package io.sluice.samples.decode;

import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.PageAssignment;
import io.sluice.samples.kvcache.PoolTooSmallException;
import io.sluice.samples.kvcache.PrefixCache;
import io.sluice.samples.kvcache.PrefixCache.Admission;
import io.sluice.samples.kvcache.RequestPlan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one prefill process: those that wait for room, first come, first served, so that a large one is not
 * passed over for ever, and those that have it. Confined to one thread at a time.
 */
final class DecodeRequests {
    /** More at once than any prefill side of this program asks for. */
    private static final int MAX_REQUESTS = 1024;

    private final PrefixCache cache;
    private final ArrayDeque<Allocate> waiting = new ArrayDeque<>();
    private final Map<Long, RequestPlan> receiving = new HashMap<>();

    DecodeRequests(PrefixCache cache) {
        this.cache = cache;
    }

    /**
     * Takes a request up.
     *
     * @return the answers that can be given now
     * @throws PoolTooSmallException if a request can never have room
     */
    List<Pages> add(Allocate request) {
        if (waiting.size() + receiving.size() == MAX_REQUESTS) {
            throw new MalformedMessageException("more than " + MAX_REQUESTS + " requests at once");
        }
        if (receiving.containsKey(request.requestId())) {
            throw new MalformedMessageException("request " + request.requestId() + " is there twice");
        }
        waiting.addLast(request);
        return admitWaiting();
    }

    /** Returns the expected pages of a request that claims to be complete. */
    RequestPlan received(long requestId) {
        RequestPlan plan = receiving.get(requestId);
        if (plan == null) {
            throw new MalformedMessageException("request " + requestId + " ends, but it was never begun");
        }
        return plan;
    }

    /**
     * Ends a request whose pages were checked. All writes of it have ended, as its sender's last notification came
     * after them.
     *
     * @param intact whether its pages may be offered to later requests
     * @return the answers that can be given now that there is more room
     */
    List<Pages> end(long requestId, boolean intact) {
        RequestPlan plan = receiving.remove(requestId);
        if (plan == null) {
            throw new MalformedMessageException("request " + requestId + " ends twice");
        }
        if (intact) {
            cache.complete(plan);
            // No tokens are generated here, so nothing reads the pages any further.
            cache.release(plan);
        } else {
            cache.abandon(plan);
        }
        return admitWaiting();
    }

    private List<Pages> admitWaiting() {
        List<Pages> answers = new ArrayList<>();
        for (Allocate next = waiting.peekFirst(); next != null; next = waiting.peekFirst()) {
            RequestPlan plan = admit(next);
            if (plan == null) {
                break;
            }
            waiting.removeFirst();
            receiving.put(next.requestId(), plan);
            answers.add(new Pages(next.requestId(), PageAssignment.of(plan)));
        }
        return answers;
    }

    private @Nullable RequestPlan admit(Allocate request) {
        return switch (cache.admit(request.inputTokens(), request.blockHashes())) {
            case Admission.Admitted admitted -> admitted.plan();
            case Admission.Busy ignored -> null;
        };
    }
}
