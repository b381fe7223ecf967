package io.sluice.samples.bench;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.samples.report.ByteSize;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Measures a plan's sizes, one after the other.
 *
 * @param plan what to measure
 * @param address of the process
 * @param region name of the region that it offers
 * @param interrupted whether to break off
 */
public record Bench(BenchPlan plan, EngineAddress address, String region, BooleanSupplier interrupted) {
    private static final int MOST_PENDING = 1 << 24;

    /**
     * Options of an engine whose windows bound what is in flight to what the plan asks for.
     *
     * @param options the others
     */
    public static EngineOptions.Builder fit(EngineOptions.Builder options, BenchPlan plan) {
        EngineOptions others = options.build();
        long all = (long) plan.inflight() * plan.connections() + plan.inflight();
        long pending = (long) plan.transfersAtATime() * plan.iov();
        return options.noListener()
                .windowOperations(plan.inflight())
                .engineWindowOperations((int) Math.min(MOST_PENDING, Math.max(others.engineWindowOperations(), all)))
                .maxPending((int) Math.min(MOST_PENDING, Math.max(others.maxPending(), pending)))
                .maxConnections(Math.max(others.maxConnections(), plan.connections() + 1));
    }

    /**
     * Measures.
     *
     * @param initiator of the options that {@link #fit} gives, for the plan's interface
     * @param results takes each size's figures when it has them
     */
    public void run(Initiator initiator, Consumer<BenchResult> results) {
        try (SideChannel side = SideChannel.open(initiator.engine(), address, region)) {
            requireRoom(side);
            if (plan.operation() == BenchOperation.CONNECT) {
                results.accept(new ConnectRun(initiator, plan, side).measure(address, interrupted));
                return;
            }
            for (long size : plan.sizes()) {
                BenchResult result;
                try (SizeRun run = new SizeRun(initiator, plan, size, side)) {
                    result = run.measure(address, region, interrupted);
                }
                results.accept(result);
            }
        }
    }

    private void requireRoom(SideChannel side) {
        if (side.remote().length() < plan.serverBytes()) {
            throw BenchException.usage("the serving process offers "
                    + ByteSize.format(side.remote().length())
                    + ", and this needs " + ByteSize.format(plan.serverBytes()) + ": give 'sluice serve' --memory "
                    + plan.serverBytes() + " or more");
        }
        long longest = plan.sizes().stream().mapToLong(Long::longValue).max().orElse(0);
        if (plan.operation() == BenchOperation.NOTIFY && longest > side.maxNotificationBytes()) {
            throw BenchException.usage("--size: a notification takes at most "
                    + ByteSize.format(side.maxNotificationBytes()) + ", not " + ByteSize.format(longest));
        }
    }
}
