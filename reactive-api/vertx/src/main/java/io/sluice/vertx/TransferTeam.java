package io.sluice.vertx;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.PersistentCollective;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.vertx.core.Future;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A {@link Team} for Vert.x; needs {@code sluice-collectives}. Each collective is a future of itself, which completes
 * when this rank's part has ended.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread; futures complete on the caller's context, as
 * {@link TransferConnection} describes.
 *
 * <p><strong>Order.</strong> A method calls its collective at once, and the order of the calls must be that of the other
 * ranks. A refusal, such as of a range outside its region, fails the future; other errors are those of {@link
 * CollectiveCallback#ended}. A collective cannot be cancelled: {@link Future#timeout} only stops waiting, a time-out of
 * {@link CollectiveOptions} and {@link #revoke()} end it on all ranks.
 *
 * <p><strong>Lifetime.</strong> A team is closed with its client.
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class TransferTeam extends TeamCollectives<Collective, Future<Collective>> {
    private final ClientContext client;
    private final OpenTeam open;
    private final Team team;

    private TransferTeam(ClientContext client, OpenTeam open, CollectiveOptions options) {
        super(open.team(), options);
        this.client = client;
        this.open = open;
        this.team = open.team();
    }

    /**
     * Forms a team.
     *
     * @param client the client with this rank's engine
     * @param options the rank, the number of ranks, and how they find each other
     * @return the team, or an error as from {@link Team#form}
     * @throws IllegalArgumentException if {@link TransferClient#create} has not made the client
     */
    public static Future<TransferTeam> form(TransferClient client, TeamOptions options) {
        Objects.requireNonNull(options, "options");
        if (!(client instanceof ClientContext context)) {
            throw new IllegalArgumentException("TransferClient.create makes clients that form teams");
        }
        return formed(context, () -> Team.form(client.engine(), options), CollectiveOptions.defaults());
    }

    private static Future<TransferTeam> formed(
            ClientContext client, Supplier<CompletableFuture<Team>> forming, CollectiveOptions options) {
        return client.answer(() -> forming.get().thenApply(team -> {
            OpenTeam open = new OpenTeam(client, team);
            if (!client.begin(open)) {
                team.closeAsync();
                throw OpenWork.clientClosed();
            }
            return new TransferTeam(client, open, options);
        }));
    }

    /**
     * Returns a team with other options for its collectives.
     *
     * @param collectiveOptions time-out, algorithm, priority and start
     * @return a new object for the same team; this one is unchanged
     */
    public TransferTeam withOptions(CollectiveOptions collectiveOptions) {
        return new TransferTeam(client, open, collectiveOptions);
    }

    /** {@return the engine's team, which tells rank, size, failed ranks and metrics; its callbacks run on its loop} */
    public Team team() {
        return team;
    }

    /**
     * Returns the same collectives, to be prepared once and started again and again. A method prepares at once and
     * throws what is wrong with its arguments; all ranks prepare in the same order.
     *
     * @return operations with the options of this object
     */
    public TeamCollectives<PersistentCollective, PreparedCollective> prepare() {
        return new TeamCollectives<>(team.prepare(), options) {
            @Override
            PreparedCollective made(Function<CollectiveCallback, PersistentCollective> call) {
                return new PreparedCollective(client, call);
            }
        };
    }

    @Override
    Future<Collective> made(Function<CollectiveCallback, Collective> call) {
        return called(client, call);
    }

    /** Calls a collective; its end completes a future of the caller's context. */
    @SuppressWarnings("unchecked") // the collective that ends is the one that the call returned
    static <C extends Collective> Future<C> called(ClientContext client, Function<CollectiveCallback, C> call) {
        return EngineCall.start(client, end -> {
            C ignored = call.apply((collective, error) -> end.finish(error == null ? (C) collective : null, error));
        });
    }

    ClientContext client() {
        return client;
    }

    /**
     * Sends elements to another rank; see {@link Team#send}. No collective: it has no place in their order.
     *
     * @param source the elements
     * @param sourceOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that receives them
     * @param tag any number
     * @return the send, when the receiver has taken the elements or is certain to
     */
    public Future<Collective> send(
            MemoryRegion source, long sourceOffset, long count, ElementType type, int peer, int tag) {
        return made(end -> team.send(source, sourceOffset, count, type, peer, tag, options, end));
    }

    /**
     * Receives elements that another rank sends with the same tag, type and count; see {@link Team#receive}.
     *
     * @param target for the elements
     * @param targetOffset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param peer the rank that sends them
     * @param tag any number
     * @return the receive
     */
    public Future<Collective> receive(
            MemoryRegion target, long targetOffset, long count, ElementType type, int peer, int tag) {
        return made(end -> team.receive(target, targetOffset, count, type, peer, tag, options, end));
    }

    /** {@return completes when this rank has told the others that the team is revoked; see {@link Team#revoke}} */
    public Future<Void> revoke() {
        return client.answer(team::revoke);
    }

    /** {@return a team of the survivors; this one is closed; see {@link Team#shrink}} */
    public Future<TransferTeam> shrink() {
        return formed(
                client,
                () -> team.shrink().whenComplete((survivors, error) -> {
                    if (error == null) {
                        client.end(open);
                    }
                }),
                options);
    }

    /**
     * Divides the team; see {@link Team#split}. A collective, with its place in the order.
     *
     * @param color ranks of one color form a team
     * @param key orders the ranks of that team
     * @return the team of this rank's color
     */
    public Future<TransferTeam> split(int color, int key) {
        return formed(client, () -> team.split(color, key), options);
    }

    /** {@return completes when nothing of the team is left here; see {@link Team#closeAsync}} */
    public Future<Void> close() {
        return client.answer(() -> team.closeAsync().whenComplete((nothing, error) -> client.end(open)));
    }

    /** Returns the team's name, rank and size. */
    @Override
    public String toString() {
        return "TransferTeam[" + team + "]";
    }
}
