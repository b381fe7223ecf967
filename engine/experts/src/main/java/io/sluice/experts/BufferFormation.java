package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.Team;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import io.sluice.experts.backend.SymmetricMemory;
import io.sluice.experts.sluice.FreeMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates a buffer: the ranks compare their options, open the back end, and allocate. After each step they tell each other
 * whether they could, so a buffer comes about on all of them or on none. What was opened is closed again.
 */
final class BufferFormation {
    private static final int LONGEST_ID = 1024;
    private static final int TERMS_BYTES = 8 * Integer.BYTES;
    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
    private static final byte YES = 1;
    private static final byte NO = 0;
    // its options are none that a buffer can have
    private static final byte UNFIT = 2;

    private final Team team;
    private final ExpertOptions options;
    private final LowLatencyLayout layout;
    private final long bytes;
    private @Nullable CommBackend backend;
    private @Nullable SymmetricMemory window;
    private @Nullable SymmetricMemory slots;
    private @Nullable SymmetricMemory staging;
    private @Nullable SymmetricMemory normalMemory;
    private @Nullable DefaultExpertBuffer started;
    private final List<ResultMemory> results = new ArrayList<>();
    private final boolean[] mutual;

    private BufferFormation(Team team, ExpertOptions options) {
        if (!options.hasLowLatency() && !options.hasNormalMode()) {
            throw new IllegalArgumentException("a buffer has low-latency calls or normal mode: " + options);
        }
        this.team = team;
        this.options = options;
        this.layout = new LowLatencyLayout(options, team.size());
        this.bytes = bytes();
        this.mutual = new boolean[team.size()];
    }

    /** What the buffer takes on this rank. */
    private long bytes() {
        try {
            long lowLatency = layout.windowBytes() + LowLatencyLayout.SETS * layout.resultBytes();
            return (options.hasLowLatency() ? lowLatency : 0)
                    + (options.hasNormalMode() ? options.normalBytes(team.size()) : 0);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("a buffer of " + options + " has more bytes than can be counted", e);
        }
    }

    static CompletableFuture<ExpertBuffer> create(Team team, ExpertOptions options) {
        BufferFormation formation;
        try {
            formation = new BufferFormation(team, options);
        } catch (IllegalArgumentException e) {
            refuse(team, options, e);
            throw e;
        }
        return formation
                .create()
                .handle((buffer, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(buffer);
                    }
                    return formation
                            .release()
                            .handle((nothing, ignored) -> CompletableFuture.<ExpertBuffer>failedFuture(cause(error)))
                            .thenCompose(failed -> failed);
                })
                .thenCompose(created -> created);
    }

    /** Takes part all the same: the other ranks may have other options, and wait for this one. */
    private static void refuse(Team team, ExpertOptions options, IllegalArgumentException why) {
        try {
            TeamExchange.gather(team, terms(UNFIT, options, null, new byte[0]));
        } catch (SluiceException e) {
            why.addSuppressed(e);
        }
    }

    private static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private CompletableFuture<ExpertBuffer> create() {
        CommBackendProvider found = null;
        SluiceException refusal = null;
        byte[] id = new byte[0];
        try {
            found = ExpertBackends.of(options);
            FreeMemory.check("an expert buffer of " + options + " and " + team.size() + " ranks", bytes);
            id = team.rank() == 0 ? found.uniqueId() : id;
        } catch (SluiceException e) {
            refusal = e;
        }
        CommBackendProvider provider = found;
        SluiceException own = refusal;
        return TeamExchange.gather(team, terms(own == null ? YES : NO, options, provider, id))
                .thenCompose(all -> {
                    checkTerms(all, own, provider);
                    return open(Objects.requireNonNull(provider), idOf(all.getFirst()));
                })
                .thenCompose(nothing -> options.hasLowLatency() ? allocateLowLatency() : DONE)
                .thenCompose(nothing -> options.hasNormalMode() ? allocateNormalMode() : DONE)
                .thenCompose(nothing -> start());
    }

    // ---- terms ----

    private static byte[] terms(
            byte willing, ExpertOptions options, @Nullable CommBackendProvider provider, byte[] id) {
        if (id.length > LONGEST_ID) {
            throw new IllegalStateException("a unique id has " + id.length + " bytes, more than " + LONGEST_ID);
        }
        return ByteBuffer.allocate(TERMS_BYTES + LONGEST_ID)
                .putInt(willing)
                .putInt(options.experts())
                .putInt(options.hidden())
                .putInt(options.maxTokensPerRank())
                .putInt(options.topK())
                .putInt((options.hasLowLatency() ? 1 : 0) | (options.hasNormalMode() ? 2 : 0))
                .putInt(provider == null ? 0 : provider.name().hashCode())
                .putInt(id.length)
                .put(id)
                .array();
    }

    private static byte[] idOf(byte[] terms) {
        ByteBuffer entry =
                ByteBuffer.wrap(terms, TERMS_BYTES - Integer.BYTES, terms.length - TERMS_BYTES + Integer.BYTES);
        byte[] id = new byte[entry.getInt()];
        entry.get(id);
        return id;
    }

    private void checkTerms(List<byte[]> all, @Nullable SluiceException own, @Nullable CommBackendProvider provider) {
        if (own != null) {
            throw own;
        }
        byte[] mine = terms(YES, options, provider, new byte[0]);
        for (int rank = 0; rank < all.size(); rank++) {
            byte[] other = all.get(rank);
            if (ByteBuffer.wrap(other).getInt() == NO) {
                throw new BackendUnavailableException("rank " + rank + " of " + team
                        + " lacks the memory or the communication back end for an expert buffer");
            }
            // before the unique id, which only rank 0 has
            int compared = TERMS_BYTES - Integer.BYTES;
            if (!Arrays.equals(mine, 0, compared, other, 0, compared)) {
                throw new CollectiveMismatchException("rank " + rank + " of " + team
                        + " creates an expert buffer with other options or another back end than rank " + team.rank());
            }
        }
    }

    // ---- steps ----

    private CompletableFuture<Void> open(CommBackendProvider provider, byte[] id) {
        return settle(() -> provider.open(new CommSettings(team, id, options.hasLowLatency(), 1))
                .thenApply(opened -> {
                    backend = opened;
                    return null;
                }));
    }

    /** Does something, and tells the other ranks whether it succeeded. */
    private CompletableFuture<Void> settle(Supplier<CompletableFuture<Void>> what) {
        CompletableFuture<Void> done;
        try {
            done = what.get();
        } catch (SluiceException e) {
            done = CompletableFuture.failedFuture(e);
        }
        return done.handle((nothing, error) -> TeamExchange.gather(team, new byte[] {error == null ? YES : NO})
                        .thenAccept(all -> {
                            if (error != null) {
                                throw new CompletionException(cause(error));
                            }
                            int refusing =
                                    all.stream().map(each -> each[0]).toList().indexOf(NO);
                            if (refusing >= 0) {
                                throw new RegistrationException(
                                        "rank " + refusing + " of " + team + " could not create its expert buffer");
                            }
                        }))
                .thenCompose(settled -> settled);
    }

    private CommBackend backend() {
        return Objects.requireNonNull(backend);
    }

    private CompletableFuture<Void> allocateNormalMode() {
        return backend().allocate(options.normalBytes(team.size())).thenAccept(memory -> normalMemory = memory);
    }

    private CompletableFuture<Void> allocateLowLatency() {
        return allocateWindow()
                .thenCompose(nothing -> settle(() -> CompletableFuture.runAsync(this::allocateResults)))
                .thenCompose(nothing -> allocateForPuts());
    }

    private CompletableFuture<Void> allocateWindow() {
        return backend().allocate(layout.windowBytes()).thenAccept(memory -> window = memory);
    }

    /** Not on the loop: it waits for the system. */
    private void allocateResults() {
        for (int i = 0; i < LowLatency.RESULTS; i++) {
            results.add(new ResultMemory(team.engine(), layout));
        }
    }

    private CompletableFuture<Void> allocateForPuts() {
        // the back end is the loop's
        return CompletableFuture.supplyAsync(this::mapped, team.loop()::execute)
                .thenCompose(mapped -> TeamExchange.gather(team, mapped))
                .thenCompose(
                        all -> areAllMutual(all) ? CompletableFuture.<Void>completedFuture(null) : allocateSlots());
    }

    /** By rank, whether its window is mapped here. */
    private byte[] mapped() {
        byte[] mapped = new byte[team.size()];
        for (int rank = 0; rank < mapped.length; rank++) {
            boolean is = rank == team.rank() || Objects.requireNonNull(window).mapped(rank) != null;
            mapped[rank] = is ? YES : NO;
        }
        return mapped;
    }

    private boolean areAllMutual(List<byte[]> all) {
        boolean every = true;
        for (int rank = 0; rank < all.size(); rank++) {
            mutual[rank] = all.get(team.rank())[rank] == YES && all.get(rank)[team.rank()] == YES;
            for (byte each : all.get(rank)) {
                every &= each == YES;
            }
        }
        return every;
    }

    private CompletableFuture<Void> allocateSlots() {
        CompletableFuture<Void> allocated =
                backend().allocate(layout.slotsBytes()).thenAccept(memory -> slots = memory);
        return allocated
                .thenComposeAsync(
                        nothing -> CompletableFuture.completedFuture(
                                backend().source(results.getFirst().tokens()) != null),
                        team.loop()::execute)
                .thenComposeAsync(anywhere -> anywhere
                        ? CompletableFuture.<Void>completedFuture(null)
                        : backend().allocate(CombineStage.bytes(layout)).thenAccept(memory -> staging = memory));
    }

    private CompletableFuture<ExpertBuffer> start() {
        DefaultExpertBuffer buffer = new DefaultExpertBuffer(team, options, backend());
        return settle(() -> CompletableFuture.runAsync(() -> startOnLoop(buffer), team.loop()::execute))
                .whenComplete((nothing, error) -> {
                    if (error != null) {
                        buffer.endHelpers();
                    }
                })
                .thenApply(nothing -> buffer);
    }

    private void startOnLoop(DefaultExpertBuffer buffer) {
        LowLatency lowLatency = null;
        if (options.hasLowLatency()) {
            LowLatencyMemory memory =
                    new LowLatencyMemory(layout, buffer, backend(), Objects.requireNonNull(window), slots, mutual);
            CombineStage stage = new CombineStage(team.engine(), backend(), layout, staging);
            lowLatency = new LowLatency(options, memory, stage, results, buffer.figures());
        }
        NormalMode normalMode = options.hasNormalMode()
                ? new NormalMode(buffer, backend(), options, Objects.requireNonNull(normalMemory), buffer.figures())
                : null;
        buffer.start(lowLatency, normalMode);
        started = buffer;
    }

    private CompletableFuture<Void> release() {
        DefaultExpertBuffer buffer = started;
        if (buffer != null) {
            return buffer.closeAsync();
        }
        CommBackend opened = backend;
        CompletableFuture<Void> closing =
                opened == null ? CompletableFuture.completedFuture(null) : opened.closeAsync();
        return closing.handle((nothing, error) -> CompletableFuture.allOf(
                        results.stream().map(ResultMemory::release).toArray(CompletableFuture[]::new)))
                .thenCompose(released -> released);
    }
}
