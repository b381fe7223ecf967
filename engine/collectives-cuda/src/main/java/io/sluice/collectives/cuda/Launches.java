package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Checks collectives and makes launches of them. Any thread. */
final class Launches {
    /** So many bytes are worth a block more; fewer blocks than the least make each wait for more. */
    private static final long BLOCK_BYTES = 8 << 10;

    private static final int LEAST_BLOCKS = 24;
    // more gain no bandwidth, and take longer to meet: 28 us instead of 21 for 4 MiB on two H200
    private static final int MOST_MEETING_BLOCKS = 128;
    // fewer bytes for all others together are reduced sooner by messages
    private static final long LEAST_PUSH_BYTES = 768 << 10;
    private static final int NO_ROOT = -1;

    private final Team team;
    private final int rank;
    private final int size;
    private final GpuTeamOptions options;
    private final GpuStream stream;
    private final TeamKernels kernels;
    private final TeamWords words;
    private final TeamRegion scratches;
    // struct team
    private final MemorySegment structure;

    Launches(
            Team team,
            GpuTeamOptions options,
            TeamLayout layout,
            GpuStream stream,
            TeamKernels kernels,
            TeamWords words,
            TeamRegion scratches) {
        this.team = team;
        this.rank = team.rank();
        this.size = team.size();
        this.options = options;
        this.stream = stream;
        this.kernels = kernels;
        this.words = words;
        this.scratches = scratches;
        this.structure = MemorySegment.ofArray(new long[(int) (TeamLayout.TEAM.byteSize() / Long.BYTES)]);
        for (int i = 0; i < size; i++) {
            putLong(structure, (long) i * Long.BYTES, scratches.address(i, 0));
        }
        putLong(structure, TeamLayout.TEAM_STATE, scratches.own(layout.progressOffset()));
        putLong(structure, TeamLayout.TEAM_HOST, words.buffer().address());
        putLong(structure, TeamLayout.TEAM_SLOT_BYTES, layout.slotBytes());
        putLong(structure, TeamLayout.TEAM_PUSH_SLOT_BYTES, layout.pushSlotBytes());
        putLong(structure, TeamLayout.TEAM_PATIENCE, options.timeout().toNanos());
        putInt(structure, TeamLayout.TEAM_RANK, rank);
        putInt(structure, TeamLayout.TEAM_RANKS, size);
    }

    private static void putLong(MemorySegment to, long at, long value) {
        to.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
    }

    private static void putInt(MemorySegment to, long at, int value) {
        to.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
    }

    /** What a collective is, as far as ranks compare it. */
    private record Call(
            CollectiveKind kind,
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long bytes,
            int type,
            int operation,
            int root) {
        int signature() {
            long mixed = kind.code() * 31L + type;
            mixed = mixed * 31 + operation;
            mixed = mixed * 131 + root;
            for (long each : new long[] {bytes, source.number(), sourceOffset, target.number(), targetOffset}) {
                mixed = (mixed ^ each) * 0x9e3779b97f4a7c15L;
                mixed ^= mixed >>> 32;
            }
            return (int) mixed;
        }

        long in() {
            return source.own(sourceOffset);
        }

        long out() {
            return target.own(targetOffset);
        }

        long in(int of, long at) {
            return source.address(of, sourceOffset + at);
        }

        long out(int of, long at) {
            return target.address(of, targetOffset + at);
        }
    }

    // ---- reductions ----

    GpuCollective reduce(
            CollectiveKind kind,
            GpuTeam owner,
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            int root) {
        if (count < 0) {
            throw new IllegalArgumentException("a count is 0 or more, not " + count);
        }
        boolean scatters = kind == CollectiveKind.REDUCE_SCATTER;
        long bytes = times(count, type.bytes());
        long sourceBytes = scatters ? times(bytes, size) : bytes;
        source.check(team, sourceOffset, sourceBytes);
        target.check(team, targetOffset, bytes);
        checkMultiple(sourceOffset, type);
        checkMultiple(targetOffset, type);
        Call call =
                new Call(kind, source, sourceOffset, target, targetOffset, bytes, type.code(), operation.code(), root);
        boolean inPlace = !scatters && call.in() == call.out();
        checkApart(inPlace, call.in(), sourceBytes, call.out(), bytes);
        long inStride = scatters ? bytes : 0;
        if (root == NO_ROOT && pushes(bytes, sourceOffset | targetOffset | inStride)) {
            return exchange(
                    owner,
                    call,
                    GpuAlgorithm.PUSHES,
                    sourceBytes,
                    inStride,
                    0,
                    allRanks(),
                    allRanks(),
                    kernels.push(type));
        }
        if (exchanges(bytes)) {
            return exchange(
                    owner,
                    call,
                    GpuAlgorithm.MESSAGES,
                    sourceBytes,
                    inStride,
                    0,
                    allRanks(),
                    receivers(root),
                    kernels.exchange(type));
        }
        KernelArguments arguments = KernelArguments.of(TeamLayout.REDUCTION, TeamLayout.TEAM);
        MemorySegment reduction = arguments.value(0);
        long slice = scatters ? bytes : slice(bytes);
        long start = scatters ? 0 : Math.min(rank * slice, bytes);
        long length = Math.min(slice, bytes - start);
        long addresses = 0;
        for (int i = 0; i < size; i++) {
            long in = call.in(i, scatters ? rank * bytes : start);
            boolean isTarget = scatters ? i == rank : root == NO_ROOT || i == root;
            long out = isTarget ? call.out(i, start) : 0;
            putLong(reduction, TeamLayout.REDUCTION_IN + (long) i * Long.BYTES, in);
            putLong(reduction, TeamLayout.REDUCTION_OUT + (long) i * Long.BYTES, out);
            addresses |= in | out;
        }
        checkMultiple(addresses, type);
        putLong(reduction, TeamLayout.REDUCTION_BYTES, length);
        putInt(reduction, TeamLayout.REDUCTION_OPERATION, operation.code());
        putInt(reduction, TeamLayout.REDUCTION_SIGNATURE, call.signature());
        putLong(reduction, TeamLayout.REDUCTION_ALIGNED, addresses % TeamLayout.VECTOR == 0 ? 1 : 0);
        return new GpuCollective(
                owner,
                kind,
                GpuAlgorithm.DIRECT,
                sourceBytes,
                work(call, true)
                        .launch(kernels.reduce(type), shape(slice), with(arguments))
                        .build());
    }

    // ---- copies ----

    GpuCollective copy(
            CollectiveKind kind,
            GpuTeam owner,
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long bytes,
            int root) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a length is 0 bytes or more, not " + bytes);
        }
        long all = times(bytes, size);
        long sourceBytes = kind == CollectiveKind.ALL_TO_ALL ? all : bytes;
        long targetBytes = kind == CollectiveKind.BROADCAST ? bytes : all;
        source.check(team, sourceOffset, sourceBytes);
        target.check(team, targetOffset, targetBytes);
        Call call = new Call(kind, source, sourceOffset, target, targetOffset, bytes, 0, 0, root);
        boolean inPlace = switch (kind) {
            case ALL_GATHER -> call.in() == call.out() + rank * bytes;
            case BROADCAST -> call.in() == call.out();
            default -> false;
        };
        checkApart(inPlace, call.in(), sourceBytes, call.out(), targetBytes);
        if (exchanges(bytes)) {
            return exchange(
                    owner,
                    call,
                    GpuAlgorithm.MESSAGES,
                    Math.max(sourceBytes, targetBytes),
                    kind == CollectiveKind.ALL_TO_ALL ? bytes : 0,
                    kind == CollectiveKind.BROADCAST ? 0 : bytes,
                    kind == CollectiveKind.BROADCAST ? 1L << root : allRanks(),
                    allRanks(),
                    kernels.exchange());
        }
        GpuWork.Builder work = work(call, true);
        if (kind == CollectiveKind.BROADCAST) {
            addBroadcast(work, call);
        } else {
            Copies copies = new Copies(call.signature());
            for (int i = 0; i < size; i++) {
                long from = kind == CollectiveKind.ALL_TO_ALL ? call.in(rank, i * bytes) : call.in();
                copies.add(i, from, call.out(i, rank * bytes), bytes);
            }
            work.launch(kernels.copy(), shape(bytes), with(copies.arguments));
        }
        return new GpuCollective(owner, kind, GpuAlgorithm.DIRECT, Math.max(sourceBytes, targetBytes), work.build());
    }

    /** Of more than two ranks each gets a part from the root and passes it on, so that all links carry their share. */
    private void addBroadcast(GpuWork.Builder work, Call call) {
        long bytes = call.bytes();
        int root = call.root();
        if (size <= 2) {
            Copies copies = new Copies(call.signature());
            for (int i = 0; rank == root && i < size; i++) {
                copies.add(i, call.in(), call.out(i, 0), bytes);
            }
            work.launch(kernels.copy(), shape(bytes), with(copies.arguments));
            return;
        }
        long slice = slice(bytes);
        Copies scattered = new Copies(call.signature());
        Copies passedOn = new Copies(call.signature() + 1);
        for (int i = 0; i < size; i++) {
            if (rank == root) {
                long start = i == root ? 0 : Math.min(i * slice, bytes);
                long length = i == root ? bytes : Math.min(slice, bytes - start);
                scattered.add(i, call.in(rank, start), call.out(i, start), length);
            }
            if (i != rank && i != root) {
                long start = Math.min(rank * slice, bytes);
                passedOn.add(i, call.out(rank, start), call.out(i, start), Math.min(slice, bytes - start));
            }
        }
        work.launch(kernels.copy(), shape(slice), with(scattered.arguments));
        work.launch(kernels.copy(), shape(slice), with(passedOn.arguments));
    }

    /** Where from and where to a rank copies. */
    private static final class Copies {
        private final KernelArguments arguments = KernelArguments.of(TeamLayout.COPIES, TeamLayout.TEAM);

        Copies(int signature) {
            putLong(arguments.value(0), TeamLayout.COPIES_SIGNATURE, Integer.toUnsignedLong(signature));
        }

        void add(int peer, long from, long to, long bytes) {
            long at = (long) peer * Long.BYTES;
            putLong(arguments.value(0), TeamLayout.COPIES_FROM + at, from);
            putLong(arguments.value(0), TeamLayout.COPIES_TO + at, to);
            putLong(arguments.value(0), TeamLayout.COPIES_BYTES + at, from == to ? 0 : bytes);
        }
    }

    // ---- exchanges ----

    GpuCollective barrier(GpuTeam owner) {
        Call call = new Call(CollectiveKind.BARRIER, scratches, 0, scratches, 0, 0, 0, 0, NO_ROOT);
        return exchange(owner, call, GpuAlgorithm.MESSAGES, 0, 0, 0, allRanks(), allRanks(), kernels.exchange());
    }

    private boolean exchanges(long bytes) {
        return bytes <= options.exchangeBytes() / TeamLayout.others(size);
    }

    /** By offsets, which ranks compare, and no addresses: the kernel serves memory that is aligned on some ranks only. */
    private boolean pushes(long bytes, long offsets) {
        int others = TeamLayout.others(size);
        return offsets % TeamLayout.VECTOR == 0
                && bytes <= options.pushBytes() / others
                && (bytes >= LEAST_PUSH_BYTES / others || !exchanges(bytes));
    }

    private GpuCollective exchange(
            GpuTeam owner,
            Call call,
            GpuAlgorithm algorithm,
            long volume,
            long inStride,
            long outStride,
            long senders,
            long receivers,
            GpuKernel kernel) {
        KernelArguments arguments = KernelArguments.of(TeamLayout.EXCHANGE, TeamLayout.TEAM);
        MemorySegment exchange = arguments.value(0);
        putLong(exchange, TeamLayout.EXCHANGE_IN, call.in());
        putLong(exchange, TeamLayout.EXCHANGE_OUT, call.out());
        putLong(exchange, TeamLayout.EXCHANGE_IN_STRIDE, inStride);
        putLong(exchange, TeamLayout.EXCHANGE_OUT_STRIDE, outStride);
        putLong(exchange, TeamLayout.EXCHANGE_BYTES, call.bytes());
        putLong(exchange, TeamLayout.EXCHANGE_SENDERS, senders);
        putLong(exchange, TeamLayout.EXCHANGE_RECEIVERS, receivers);
        putInt(exchange, TeamLayout.EXCHANGE_OPERATION, call.operation());
        putInt(exchange, TeamLayout.EXCHANGE_SIGNATURE, call.signature());
        int unit = algorithm == GpuAlgorithm.PUSHES ? TeamLayout.VECTOR : TeamLayout.UNIT;
        long units = (call.bytes() + unit - 1) / unit;
        int most = algorithm == GpuAlgorithm.PUSHES ? meetingBlocks() : options.blocks();
        int blocks = Math.clamp((units + TeamLayout.THREADS - 1) / TeamLayout.THREADS, 1, most);
        GpuWork.Builder work = work(call, false);
        work.launch(kernel, LaunchShape.of(blocks, TeamLayout.THREADS), with(arguments));
        return new GpuCollective(owner, call.kind(), algorithm, volume, work.build());
    }

    // ---- what all have ----

    private long allRanks() {
        return -1L >>> (Long.SIZE - size);
    }

    private long receivers(int root) {
        return root == NO_ROOT ? allRanks() : 1L << root;
    }

    /** A rank's share of the bytes, in whole vectors. */
    private long slice(long bytes) {
        long vectors = (bytes + TeamLayout.VECTOR - 1) / TeamLayout.VECTOR;
        return (vectors + size - 1) / size * TeamLayout.VECTOR;
    }

    private int meetingBlocks() {
        return Math.min(options.blocks(), MOST_MEETING_BLOCKS);
    }

    /** The same on all ranks, as the same blocks of all meet. */
    private LaunchShape shape(long bytes) {
        long blocks = Math.max(LEAST_BLOCKS, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        return LaunchShape.of((int) Math.min(meetingBlocks(), blocks), TeamLayout.THREADS);
    }

    private KernelArguments with(KernelArguments arguments) {
        arguments.value(1).copyFrom(structure);
        return arguments;
    }

    private GpuWork.Builder work(Call call, boolean reachesOthers) {
        GpuWork.Builder work = stream.work().uses(words.buffer());
        scratches.usedBy(work, true);
        call.source().usedBy(work, reachesOthers);
        call.target().usedBy(work, reachesOthers);
        return work;
    }

    private static long times(long count, int each) {
        if (count > Long.MAX_VALUE / each) {
            throw new IndexOutOfBoundsException(count + " times " + each + " bytes are more than any region has");
        }
        return count * each;
    }

    /** Offsets, and addresses put together. */
    private static void checkMultiple(long place, ElementType type) {
        if (place % type.bytes() != 0) {
            throw new IllegalArgumentException(
                    "elements of %s lie at multiples of %d bytes, not at %#x".formatted(type, type.bytes(), place));
        }
    }

    private static void checkApart(boolean inPlace, long source, long sourceBytes, long target, long targetBytes) {
        if (!inPlace && source < target + targetBytes && target < source + sourceBytes) {
            throw new IllegalArgumentException("source and target overlap, and are not the same range");
        }
    }
}
