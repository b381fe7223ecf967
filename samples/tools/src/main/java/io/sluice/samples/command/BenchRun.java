package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.samples.bench.Bench;
import io.sluice.samples.bench.BenchPlan;
import io.sluice.samples.bench.Initiator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A measurement as a command carries it out: both sides up, the figures, both sides down. */
record BenchRun(
        BenchPlan plan,
        EngineOptions options,
        List<String> engineArguments,
        BenchOutput output,
        MetricsEndpoint watched,
        Termination termination,
        BooleanSupplier interrupted) {
    /**
     * Against a serving process that is started and ended here.
     *
     * @param launcher what starts it; none for nothing
     * @return the exit status
     */
    int againstOwnProcess(List<String> launcher) throws IOException {
        List<String> serve = new ArrayList<>(List.of(
                "serve",
                "--listen",
                ListenAddress.LOOPBACK.toString(),
                "--memory",
                Long.toString(plan.serverBytes()),
                "--regions",
                plan.regions().toString()));
        serve.addAll(engineArguments);
        try (SecondProcess process = SecondProcess.start("the serving process", launcher, serve, termination)) {
            try {
                return against(process.address());
            } catch (SluiceException e) {
                throw process.explain(e);
            }
        }
    }

    /**
     * Against a serving process that is there.
     *
     * @return the exit status
     */
    int against(EngineAddress address) {
        try (Initiator initiator = Initiator.open(plan.api(), options)) {
            watched.watch(initiator.engine());
            try {
                new Bench(plan, address, ServeCommand.DEFAULT_NAME, interrupted).run(initiator, output::add);
            } catch (RuntimeException e) {
                watched.linger(termination, e);
                throw e;
            }
            watched.linger(termination);
        }
        return output.finish();
    }
}
