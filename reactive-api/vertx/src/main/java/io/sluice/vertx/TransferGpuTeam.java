package io.sluice.vertx;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.MemoryRegion;
import io.vertx.core.Future;
import java.util.Objects;

/**
 * A {@link GpuTeam} for Vert.x; needs {@code sluice-collectives-cuda}. Collectives and graphs are prepared by {@link #team()}, and each run
 * of one is a future of itself, which completes when this rank's GPU is through with it.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread; futures complete on the caller's context, as {@link
 * TransferConnection} describes.
 *
 * <p><strong>Order.</strong> A run starts at once, without waiting for the driver's work; the order of starts must be that of the other
 * ranks, and one thread at a time starts, such as an event loop. What a start throws fails the future; other errors are those of {@link
 * GpuTeam#onReached}. A collective cannot be cancelled: {@link Future#timeout} only stops waiting.
 *
 * <p><strong>Lifetime.</strong> A GPU team is closed with its client, and when its team ends.
 */
@SuppressWarnings("exports") // Applications with collectives on GPUs require their module; others do without.
public final class TransferGpuTeam {
    private final OpenGpuWork open;
    private final GpuTeam team;

    private TransferGpuTeam(OpenGpuWork open, GpuTeam team) {
        this.open = open;
        this.team = team;
    }

    /**
     * Forms a GPU team, with a stream of its own, on a worker thread. A collective of the team's; those of one context are formed one
     * after another. Call nothing else of the team until it has ended, so that the order stays that of the other ranks.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU
     * @param options the same on all ranks
     * @return the GPU team, or an error as from {@link GpuTeam#form(Team, String, GpuTeamOptions)}
     */
    public static Future<TransferGpuTeam> form(TransferTeam team, String gpu, GpuTeamOptions options) {
        Objects.requireNonNull(gpu, "gpu");
        Objects.requireNonNull(options, "options");
        return OpenGpuWork.open(
                team.client(),
                team.team(),
                () -> GpuTeam.form(team.team(), gpu, options),
                GpuTeam::closeAsync,
                TransferGpuTeam::new);
    }

    /**
     * Forms a GPU team with a stream of the caller's, as {@link #form(TransferTeam, String, GpuTeamOptions)} does with one of its own.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param stream of this rank's GPU; stays open when the GPU team closes
     * @param options the same on all ranks
     * @return the GPU team
     */
    public static Future<TransferGpuTeam> form(TransferTeam team, GpuStream stream, GpuTeamOptions options) {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(options, "options");
        return OpenGpuWork.open(
                team.client(),
                team.team(),
                () -> GpuTeam.form(team.team(), stream, options),
                GpuTeam::closeAsync,
                TransferGpuTeam::new);
    }

    /** {@return the engine's GPU team, which prepares collectives and graphs, and tells stream and metrics} */
    public GpuTeam team() {
        return team;
    }

    /**
     * Shares a region of each rank, for collectives. A collective of the team's, with its place in the order.
     *
     * @param region memory of this rank's GPU
     * @return the regions, or an error as from {@link GpuTeam#share}
     */
    public Future<TeamRegion> share(MemoryRegion region) {
        return open.client().answer(() -> team.share(region));
    }

    /**
     * Runs a collective.
     *
     * @param collective prepared by {@link #team()}
     * @return the collective, when this rank's GPU is through with it
     */
    public Future<GpuCollective> run(GpuCollective collective) {
        return open.run(collective, collective::onReached, collective::start);
    }

    /**
     * Runs a graph of collectives.
     *
     * @param graph made by {@link #team()}
     * @return the graph, when this rank's GPU is through with all of it
     */
    public Future<GpuCollectiveGraph> run(GpuCollectiveGraph graph) {
        return open.run(graph, graph::onReached, graph::start);
    }

    /** {@return completes when nothing of it is left here; see {@link GpuTeam#closeAsync}} */
    public Future<Void> close() {
        return open.close();
    }

    /** Returns the team and the GPU. */
    @Override
    public String toString() {
        return "TransferGpuTeam[" + team + "]";
    }
}
