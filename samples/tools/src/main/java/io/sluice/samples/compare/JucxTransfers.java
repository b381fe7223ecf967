package io.sluice.samples.compare;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.report.ByteSize;
import java.util.ArrayList;
import java.util.List;

/**
 * One-sided puts or gets over tcp through JUCX, UCX's Java binding, on this machine's UCX. It uses one buffer, and counts a put
 * when its source may be reused; the time lasts until all have taken effect.
 *
 * @param operation a write for puts, a read for gets
 */
record JucxTransfers(BenchOperation operation, long size, int inflight) implements Measurement {
    /** The same transfers as ours; of what is vectored each element is a transfer of its own. */
    static JucxTransfers like(Transfers ours) {
        int outstanding = UcxTransfers.Transports.TCP.outstanding(ours);
        return new JucxTransfers(ours.elementOperation(), ours.size(), outstanding);
    }

    @Override
    public Program program() {
        return Program.JUCX;
    }

    @Override
    public String label() {
        return "JUCX " + mode() + " of " + ByteSize.format(size) + " over tcp, " + inflight + " outstanding";
    }

    private String mode() {
        return operation.isRead() ? "get" : "put";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        String output = workbench.runPair(
                label(),
                UcxTransfers.Transports.TCP.environment(),
                port -> command("target", port),
                port -> command(
                        mode(),
                        port,
                        inflight,
                        timing.warmup().toMillis(),
                        timing.duration().toMillis()));
        return Figures.ofRate(BaselineRun.BaselineOutput.of(output).operationsPerSecond(), size);
    }

    private List<String> command(String mode, int port, long... more) {
        List<String> arguments = new ArrayList<>(List.of(mode, Integer.toString(port), Long.toString(size)));
        for (long argument : more) {
            arguments.add(Long.toString(argument));
        }
        return StartCommand.java(System.getProperty("java.class.path"), JucxProcess.class, arguments);
    }
}
