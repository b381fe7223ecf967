package io.sluice.collectives.cuda;

import io.sluice.collectives.SharedRegion;
import io.sluice.collectives.Team;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A region of each rank of a team, mapped for the GPUs of all. {@link GpuTeam#share} makes it for collectives, {@link #map} for kernels
 * of the caller's own. Any thread.
 */
public final class TeamRegion implements AutoCloseable {
    private final Team team;
    private final SharedRegion shared;
    private final List<MappedRegion> mapped;
    private final int number;
    private final int rank;
    private final long length;

    /**
     * Makes it.
     *
     * @param number of regions that the team has shared before, the same on all ranks
     */
    TeamRegion(Team team, SharedRegion shared, List<MappedRegion> mapped, int number) {
        this.team = team;
        this.shared = shared;
        this.mapped = List.copyOf(mapped);
        this.number = number;
        this.rank = team.rank();
        this.length = mapped.stream().mapToLong(MappedRegion::length).min().orElse(0);
    }

    /**
     * Returns this rank's region.
     *
     * @return the region that was shared
     */
    public MemoryRegion local() {
        return shared.local();
    }

    /**
     * Returns how many bytes collectives can use.
     *
     * @return the length of the shortest rank's region
     */
    public long length() {
        return length;
    }

    /**
     * Shares a region of each rank and maps it for the GPUs of all, on all ranks or on none, for kernels of the caller's own. It belongs
     * to no {@link GpuTeam}. A collective of the team's: all ranks call it in the same order as others, also those that have no region.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU
     * @param local this rank's region, completed; if with an error, all ranks fail
     * @param other what has to succeed on all ranks as well
     * @param common any number of numbers that all ranks must give, such as those that say how regions are laid out
     * @return the regions, mapped for all GPUs; else, on all ranks, an error: {@link io.sluice.engine.MemoryNotAccessibleException} if a
     *     GPU does not reach another's memory, {@link io.sluice.collectives.CollectiveMismatchException} if the numbers differ, that of
     *     {@code local} or {@code other}, an error of the team's or of the driver
     */
    public static CompletableFuture<TeamRegion> map(
            Team team, String gpu, CompletableFuture<MemoryRegion> local, CompletableFuture<?> other, long... common) {
        return RegionMapping.map(team, gpu, local, other, RegionMapping.NONE, 0, common);
    }

    /**
     * Shares a region of each rank and maps it as {@link #map(Team, String, CompletableFuture, CompletableFuture, long...)} does. Where a
     * rank's region is reached, but not by kernels, as on another host or without peer access, the substitute takes its place.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU
     * @param local this rank's region, completed; if with an error, all ranks fail
     * @param other what has to succeed on all ranks as well
     * @param substitute what {@link #mapped} returns for such a rank; an error of it is one of the mapping
     * @param common any number of numbers that all ranks must give
     * @return as {@link #map(Team, String, CompletableFuture, CompletableFuture, long...)}
     */
    public static CompletableFuture<TeamRegion> map(
            Team team,
            String gpu,
            CompletableFuture<MemoryRegion> local,
            CompletableFuture<?> other,
            Substitute substitute,
            long... common) {
        return RegionMapping.map(team, gpu, local, other, substitute, 0, common);
    }

    /** What takes the place of a region that kernels of this rank's GPU do not reach. */
    @FunctionalInterface
    public interface Substitute {
        /**
         * Makes it. Not called on a poller.
         *
         * @param rank the rank whose region it stands for
         * @param region that region, which transfers reach
         * @param why kernels do not
         * @return memory of this rank's GPU, closed with the team's region; or an error, with which the ranks fail
         */
        CompletableFuture<MappedRegion> of(int rank, RemoteRegion region, MemoryNotAccessibleException why);
    }

    /**
     * Returns a rank's region as kernels of this rank's GPU reach it.
     *
     * @param of the rank
     * @return the region; closed when this is
     * @throws IndexOutOfBoundsException if there is no such rank
     */
    public MappedRegion mapped(int of) {
        return mapped.get(of);
    }

    /** Where this rank's GPU finds a place in a rank's region. */
    long address(int of, long offset) {
        return mapped.get(of).address() + offset;
    }

    long own(long offset) {
        return address(rank, offset);
    }

    int number() {
        return number;
    }

    /** Whether the connection to a rank has ended. */
    boolean isLost(int of) {
        return of != rank && shared.of(of).connection().state().compareTo(ConnectionState.CLOSED) >= 0;
    }

    void check(Team user, long offset, long bytes) {
        if (!user.equals(team)) {
            throw new IllegalArgumentException("the region was shared by " + team + ", not by " + user);
        }
        Objects.checkFromIndexSize(offset, bytes, length);
    }

    /** Has work keep the regions of all ranks, or the own one. */
    void usedBy(GpuWork.Builder work, boolean all) {
        for (int i = 0; i < mapped.size(); i++) {
            if (all || i == rank) {
                work.uses(mapped.get(i));
            }
        }
    }

    /**
     * Refuses collectives that use it, from now on, on this rank alone, and lets the other ranks' memory go once those that were
     * started are done. This rank's region stays open, and other ranks may write to it until they have closed theirs: {@link
     * MemoryRegion#close()} waits for that.
     */
    @Override
    public void close() {
        closeAsync();
    }

    /**
     * Closes it.
     *
     * @return completes when nothing of the other ranks' memory is mapped here any more; a second call has the same result
     */
    public CompletableFuture<Void> closeAsync() {
        mapped.forEach(MappedRegion::close);
        return CompletableFuture.allOf(
                        mapped.stream().map(MappedRegion::released).toArray(CompletableFuture[]::new))
                .thenCompose(released -> shared.closeAsync());
    }
}
