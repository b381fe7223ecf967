package io.sluice.samples.mover.peer;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.EngineEntry;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.HostAndPort;
import io.sluice.engine.TransferEngine;
import io.vertx.core.Context;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The other movers in the directory. Confined to the mover's context. */
public final class Peers {
    private static final Logger LOG = LoggerFactory.getLogger(Peers.class);

    private final Directory directory;
    private final Context context;
    private final TransferEngine engine;
    private final String self;
    private final Map<String, EngineEntry> entries = new TreeMap<>();
    private final List<Disposable> watches = new ArrayList<>();
    private boolean interrupted;

    /**
     * Without entries.
     *
     * @param self the mover's name in the directory
     */
    public Peers(Directory directory, Context context, TransferEngine engine, String self) {
        this.directory = directory;
        this.context = context;
        this.engine = engine;
        this.self = self;
    }

    public void watch() {
        // Events come one at a time, each when the one before was taken in: the watch keeps what is newest meanwhile.
        Scheduler onContext = Schedulers.fromExecutor(task -> context.runOnContext(run -> task.run()));
        for (MoverRole role : MoverRole.values()) {
            watches.add(directory
                    .watch(role.prefix())
                    .publishOn(onContext, 1)
                    .subscribe(event -> told(role, event), error -> LOG.error("The watch has failed", error)));
        }
    }

    public void close() {
        watches.forEach(Disposable::dispose);
    }

    private void told(MoverRole role, DirectoryEvent event) {
        switch (event) {
            case DirectoryEvent.Snapshot snapshot -> {
                interrupted = false;
                entries.keySet().removeIf(name -> name.startsWith(role.prefix()));
                snapshot.entries().forEach(entry -> entries.put(entry.name(), entry));
            }
            case DirectoryEvent.Published published ->
                entries.put(published.entry().name(), published.entry());
            case DirectoryEvent.Changed changed -> entries.put(changed.entry().name(), changed.entry());
            case DirectoryEvent.Removed removed ->
                entries.remove(removed.previous().name());
            case DirectoryEvent.Damaged damaged -> entries.remove(damaged.name());
            case DirectoryEvent.Interrupted lost -> interrupted = true;
        }
    }

    /** Whether the directory does not answer, so that what is known may be out of date. */
    public boolean isInterrupted() {
        return interrupted;
    }

    public boolean knows(String peer) {
        return entries.containsKey(peer);
    }

    public JsonObject toJson() {
        JsonArray peers = new JsonArray();
        entries.values().stream()
                .filter(entry -> !entry.name().equals(self))
                .map(this::json)
                .forEach(peers::add);
        return new JsonObject().put("peers", peers).put("directoryInterrupted", interrupted);
    }

    private JsonObject json(EngineEntry entry) {
        JsonObject json = new JsonObject()
                .put("name", entry.name())
                .put("role", entry.name().substring(0, entry.name().indexOf('/')))
                .put(
                        "address",
                        HostAndPort.text(entry.address().host(), entry.address().port()))
                .put("engine", entry.engineId().toString())
                .put("epoch", Long.toHexString(entry.epoch()))
                .put("regions", entry.regionCount());
        Connection open = engine.connections().stream()
                .filter(connection -> connection.state() == ConnectionState.OPEN)
                .filter(connection ->
                        connection.peer().equals(entry.engineId()) && connection.peerEpoch() == entry.epoch())
                .findFirst()
                .orElse(null);
        return json.put("connected", open != null).put("transport", open == null ? null : open.transport());
    }
}
