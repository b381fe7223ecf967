package io.sluice.collectives;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkLayout;
import io.sluice.collectives.reduce.NativeReducer;
import io.sluice.collectives.run.HelperThreads;
import io.sluice.collectives.run.Memory;
import io.sluice.collectives.run.TeamLoop;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.MachineFacts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Forms a team: allocates this rank's region, connects to each other rank, and attaches its region. What was opened is closed again if the team does not come about.
 */
final class TeamFormation {
    /** Of collectives; sends and receives have one more. */
    private static final int CHANNELS = 4;

    private static final int VERSION = 3;
    private static final int TERMS_BYTES = 32;

    private final TransferEngine engine;
    private final TeamOptions options;
    private final DefaultTeam.Members members;
    private final LinkLayout layout;
    private final TeamConnections connections;
    private final MemoryRegion own;
    private final MemoryRegion staging;

    private TeamFormation(TeamOptions options, DefaultTeam.Members members, LinkLayout layout) {
        this.engine = members.engine();
        this.options = options;
        this.members = members;
        this.layout = layout;
        this.connections = new TeamConnections(
                engine,
                options.rank(),
                members.addresses(),
                new LoopGroup(members.id()),
                this::regionOf,
                new Retry(
                        options.formTimeout(),
                        "the other ranks of team '" + options.name() + "' must form it as well"));
        WorkMemory.checkAvailable(
                "scratch memory of team '" + options.name() + "'",
                layout.bytes() + Link.stagingBytes(layout),
                MachineFacts::availableMemory);
        this.own = engine.allocate(layout.bytes(), RegionOptions.readWrite().named(regionOf(options.rank())));
        this.staging = allocate(Link.stagingBytes(layout));
    }

    private MemoryRegion allocate(long bytes) {
        try {
            return engine.allocate(bytes, RegionOptions.local());
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
    }

    static CompletableFuture<Team> form(TransferEngine engine, TeamOptions options) {
        byte[] terms = terms(options);
        byte[] address = engine.address().toBytes();
        byte[] published = ByteBuffer.allocate(Long.BYTES + terms.length + address.length)
                .putLong(ThreadLocalRandom.current().nextLong())
                .put(terms)
                .put(address)
                .array();
        Rendezvous rendezvous = options.rendezvous();
        CompletableFuture<List<byte[]>> exchange;
        if (options.size() == 1) {
            exchange = CompletableFuture.completedFuture(List.of(published));
        } else if (rendezvous == null) {
            throw new IllegalArgumentException("a team of " + options.size() + " ranks needs a rendezvous");
        } else {
            exchange = rendezvous.exchange(
                    engine, options.name(), options.rank(), options.size(), published, options.formTimeout());
        }
        // not on a poller: memory is allocated
        return exchange.thenComposeAsync(all -> {
            List<EngineAddress> addresses = new ArrayList<>();
            for (int rank = 0; rank < options.size(); rank++) {
                ByteBuffer entry = ByteBuffer.wrap(all.get(rank), Long.BYTES, all.get(rank).length - Long.BYTES);
                byte[] others = new byte[terms.length];
                byte[] where = new byte[Math.max(0, entry.remaining() - terms.length)];
                if (entry.remaining() >= terms.length) {
                    entry.get(others).get(where);
                }
                if (!Arrays.equals(terms, others)) {
                    throw new CollectiveMismatchException("rank " + rank + " forms team '" + options.name()
                            + "' with another version, number of ranks, scratch memory or table of algorithms than"
                            + " rank " + options.rank());
                }
                addresses.add(EngineAddress.fromBytes(where));
            }
            // drawn by rank 0, it tells this team from earlier ones of its name
            long id = ByteBuffer.wrap(all.getFirst()).getLong();
            return join(options, new DefaultTeam.Members(engine, addresses, id, 0));
        });
    }

    /** What all ranks must have in common. */
    private static byte[] terms(TeamOptions options) {
        LinkLayout layout = layout(options);
        boolean bigEndian = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
        return ByteBuffer.allocate(TERMS_BYTES)
                .putInt(VERSION)
                .putInt(bigEndian ? 1 : 0)
                .putInt(options.size())
                .putInt(layout.chunkBytes())
                .putLong(layout.bytes())
                .putLong(options.algorithms().toString().hashCode())
                .array();
    }

    private static LinkLayout layout(TeamOptions options) {
        return new LinkLayout(options.size(), CHANNELS + 1, options.scratchBytes());
    }

    /** Forms a team of ranks whose addresses are known. */
    static CompletableFuture<Team> join(TeamOptions options, DefaultTeam.Members members) {
        TeamFormation formation = new TeamFormation(options, members, layout(options));
        CompletableFuture<Team> formed = formation.connections.open().thenCompose(formation::team);
        CompletableFuture<Team> result = new CompletableFuture<>();
        formed.whenComplete((team, error) -> {
            if (error != null) {
                Throwable cause =
                        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
                formation.release().whenComplete((nothing, ignored) -> result.completeExceptionally(cause));
            } else if (!result.complete(team)) {
                team.closeAsync();
            }
        });
        return result;
    }

    private String regionOf(int rank) {
        return "sluice-team/" + options.name() + "/" + Long.toHexString(members.id()) + "/" + rank;
    }

    private CompletableFuture<Team> team(EngineLoop loop) {
        @Nullable RemoteRegion[] attached = connections.remotes();
        String name = "team '" + options.name() + "'";
        TeamConnections.checkLoop(attached, loop, name);
        connections.stopListening();
        TeamLoop teamLoop =
                new TeamLoop(name, loop, layout, options.rank(), attached, own, staging, new TypedErrors(name));
        WorkMemory work = new WorkMemory(engine, options.scratchBytes());
        HelperThreads helpers = null;
        if (options.helperThreads() > 0) {
            helpers = new HelperThreads(options.name(), options.helperThreads());
            teamLoop.helpedBy(helpers);
        }
        CalledCollective.Parts parts = new CalledCollective.Parts(
                teamLoop, options.size(), options.timeout(), work, Memory.of(staging, 0), new NativeReducer(), helpers);
        teamLoop.start();
        CollectiveOptions agreeing = CollectiveOptions.defaults().withTimeout(options.formTimeout());
        // not on a poller: callers go on when the team is formed
        return CommonTransport.agree(parts, options.rank(), layout.chunkBytes(), agreeing, attached)
                .handleAsync((transport, error) -> {
                    if (error != null) {
                        return teamLoop.close()
                                .thenCompose(nothing -> endWork(parts))
                                .<Team>thenCompose(nothing -> CompletableFuture.failedFuture(error));
                    }
                    CheckedCollectives.Ranks ranks = new CheckedCollectives.Ranks(
                            options.rank(), options.size(), layout.chunkBytes(), options.algorithms(), transport);
                    Team team = new DefaultTeam(
                            options,
                            ranks,
                            parts,
                            CHANNELS,
                            members,
                            new DefaultTeam.Peers(loop, attached),
                            () -> CompletableFuture.allOf(endWork(parts), release()));
                    return CompletableFuture.completedFuture(team);
                })
                .thenCompose(team -> team);
    }

    /** Nothing runs any more: ends what collectives have shared. */
    private static CompletableFuture<Void> endWork(CalledCollective.Parts parts) {
        HelperThreads helpers = parts.helpers();
        if (helpers != null) {
            helpers.close();
        }
        return parts.work().close();
    }

    /** Closes all that was opened. */
    private CompletableFuture<Void> release() {
        return connections
                .close()
                .handle((nothing, error) -> CompletableFuture.allOf(own.close(), staging.close()))
                .thenCompose(closed -> closed);
    }
}
