package io.sluice.comm.nccl;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * The connections of one poller. While groups are under way it looks at the words that their streams store; as nothing wakes it for
 * one, it parks for a part of the time that the newest has taken by then.
 */
final class NcclLoop implements TransportLoop, EventLoop.Source {
    private static final long SHORTEST_PARK_NANOS = 20_000;
    private static final long LONGEST_PARK_NANOS = 1_000_000;
    private static final int PARTS_OF_WAIT = 8;

    private final EventLoop loop;
    private final NcclLibrary library;
    private final UniqueIds ids;
    private final int ordinal;
    private final String device;
    private final List<NcclEndpoint> endpoints = new ArrayList<>();
    private final List<NcclEndpoint> watched = new ArrayList<>();
    private final Alarm alarm = new Alarm();
    private boolean isSource;

    NcclLoop(EventLoop loop, NcclLibrary library, UniqueIds ids, int ordinal, String device) {
        this.loop = loop;
        this.library = library;
        this.ids = ids;
        this.ordinal = ordinal;
        this.device = device;
    }

    /** Ends a park. */
    private static final class Alarm extends Deadline {
        @Override
        protected void expired() {
            // the sources are polled in the same cycle
        }
    }

    @Override
    public Endpoint endpoint(EndpointContext context) {
        NcclEndpoint made = new NcclEndpoint(context, this, library, ids, ordinal, device);
        endpoints.add(made);
        return made;
    }

    void left(NcclEndpoint endpoint) {
        endpoints.remove(endpoint);
        watched.remove(endpoint);
    }

    /** Looks at an endpoint's word from now on. */
    void watch(NcclEndpoint endpoint) {
        if (!endpoint.isWatched()) {
            endpoint.watched(true);
            watched.add(endpoint);
        }
        if (!isSource) {
            isSource = true;
            loop.addSource(this);
        }
    }

    @Override
    public int flush() {
        int sent = 0;
        for (int i = endpoints.size() - 1; i >= 0; i--) {
            sent += endpoints.get(i).flush();
        }
        return sent;
    }

    @Override
    public int poll() {
        int done = 0;
        for (int i = watched.size() - 1; i >= 0; i--) {
            NcclEndpoint each = watched.get(i);
            done += each.progress();
            if (!each.isAtWork() && i < watched.size() && watched.get(i).equals(each)) {
                watched.remove(i);
                each.watched(false);
            }
        }
        if (watched.isEmpty()) {
            isSource = false;
            loop.removeSource(this);
        }
        return done;
    }

    @Override
    public boolean arm() {
        long now = System.nanoTime();
        long newest = Long.MIN_VALUE;
        for (int i = 0; i < watched.size(); i++) {
            NcclEndpoint each = watched.get(i);
            if (each.hasProgress()) {
                return false;
            }
            newest = Math.max(newest, each.newest(now) - now);
        }
        if (!watched.isEmpty()) {
            loop.arm(alarm, now + Math.clamp(-newest / PARTS_OF_WAIT, SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS));
        }
        return true;
    }

    @Override
    public void close() {
        loop.disarm(alarm);
        if (isSource) {
            loop.removeSource(this);
        }
        endpoints.forEach(NcclEndpoint::abandon);
    }
}
