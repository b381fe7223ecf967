package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.prefill.PrefillSession;
import io.sluice.samples.prefill.RecoveringMover;
import io.sluice.samples.replay.Replay;
import io.sluice.samples.report.ProgressLine;
import io.sluice.samples.report.ReplaySummary;
import io.sluice.samples.report.ReplaySummary.ReplaySummaryTable;
import io.sluice.samples.trace.GeneratedTrace;
import io.sluice.samples.trace.GeneratedTrace.GeneratedTraceOptions;
import io.sluice.samples.trace.TraceReader;
import io.sluice.samples.trace.TraceSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A replay as a command runs it: both sides up, the replay, what it has found, both sides down. */
record ReplayRun(
        Settings settings, MetricsEndpoint watched, ProgramCommand command, Consumer<ReplaySummary> conclusion) {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayRun.class);
    private static final Duration REFRESH = Duration.ofMillis(100);
    private static final Duration GOODBYE = Duration.ofSeconds(5);

    /**
     * Runs it to its end, or until the program is to end.
     *
     * @return the exit status
     */
    int run() throws IOException {
        settings.summary().require();
        Path recorded = settings.trace();
        if (recorded == null) {
            return run(pool -> new GeneratedTrace(
                    GeneratedTraceOptions.fitting(pool, settings.plan().requests(), settings.seed())));
        }
        try (TraceSource trace = TraceReader.open(recorded, settings.mode())) {
            // Errors at the beginning of the trace are reported before anything is started.
            return trace.hasNext() ? run(pool -> trace) : ExitCodes.OK;
        }
    }

    private int run(Function<PageGeometry, TraceSource> trace) throws IOException {
        EngineAddress elsewhere = settings.decode();
        try (SecondProcess decode = elsewhere == null ? startDecode() : null;
                TransferEngine engine = TransferEngine.open(settings.engine())) {
            watched.watch(engine);
            try {
                EngineAddress address =
                        elsewhere == null ? Objects.requireNonNull(decode).address() : elsewhere;
                return run(engine, address, trace);
            } catch (SluiceException e) {
                RuntimeException explained = decode == null ? e : decode.explain(e);
                watched.linger(command.termination, explained);
                throw explained;
            } catch (RuntimeException e) {
                watched.linger(command.termination, e);
                throw e;
            }
        }
    }

    private int run(TransferEngine engine, EngineAddress decode, Function<PageGeometry, TraceSource> trace)
            throws IOException {
        PageMover session = await(connect(ReactiveTransferEngine.from(engine), decode));
        if (session == null) {
            throw CommandFailure.failed("interrupted before the first request");
        }
        return run(session, trace.apply(session.geometry()));
    }

    private SecondProcess startDecode() throws IOException {
        List<String> options = new ArrayList<>(List.of(
                "decode", "--once",
                "--listen", ServerOptions.LOOPBACK.toString(),
                "--model", settings.model().name(),
                "--pool", Long.toString(settings.poolBytes())));
        if (settings.touched()) {
            options.add("--touch");
        }
        options.addAll(settings.engineArguments());
        return SecondProcess.start("the decode process", List.of(), options, command.termination);
    }

    private Mono<? extends PageMover> connect(ReactiveTransferEngine engine, EngineAddress decode) {
        Duration patience = settings.patience();
        if (patience != null) {
            return RecoveringMover.open(engine, engine.connect(decode), settings.model(), settings.seed(), patience);
        }
        return engine.connect(decode)
                .flatMap(connection -> PrefillSession.open(engine, connection, settings.model(), settings.seed()));
    }

    /** Waits for the value of a Mono; {@code null} if the program is to end first. */
    private <T> @Nullable T await(Mono<? extends T> mono) {
        return mono.takeUntilOther(command.termination.requested()).block();
    }

    private int run(PageMover session, TraceSource trace) throws IOException {
        Replay replay = new Replay(session, trace, settings.plan());
        ProgressLine line = new ProgressLine(System.err, ProgressLine.onTerminal());
        Disposable refresh = Flux.interval(REFRESH).subscribe(tick -> line.update(replay.progress()));
        try {
            await(replay.run());
        } finally {
            refresh.dispose();
            line.finish(replay.progress());
        }
        boolean interrupted = command.termination.isRequested();
        ReplaySummary found = replay.summary(settings.model().name(), interrupted);
        report(found, trace);
        int status = status(found, replay.requestsUnaccounted());
        if (status == ExitCodes.OK) {
            conclusion.accept(found);
        }
        watched.linger(command.termination);
        session.close().timeout(GOODBYE).onErrorResume(ReplayRun::noGoodbye).block();
        return status;
    }

    private static Mono<Void> noGoodbye(Throwable error) {
        // The figures are known and printed; how the connection ended does not change them.
        LOG.info("the connection did not close in order", error);
        return Mono.empty();
    }

    private void report(ReplaySummary found, TraceSource trace) throws IOException {
        trace.skipped().descriptions().forEach(description -> command.err().println("sluice: left out " + description));
        long described = trace.skipped().descriptions().size();
        if (trace.skipped().count() > described) {
            command.err().println("sluice: left out " + (trace.skipped().count() - described) + " more lines");
        }
        if (found.interrupted()) {
            command.out().println("Interrupted: these are the figures of the requests that had ended.");
        }
        command.out().print(ReplaySummaryTable.render(found));
        command.out().flush();
        settings.summary().write(found.toJson());
    }

    private int status(ReplaySummary found, long requestsUnaccounted) {
        if (found.corruptedPages() > 0) {
            command.err()
                    .println("sluice: corrupted pages: " + found.corruptedPages()
                            + "; they differ from those sent, and the decode side has kept them out of its cache");
        }
        if (requestsUnaccounted > 0) {
            command.err()
                    .println("sluice: requests with pages that were neither moved and checked nor reused: "
                            + requestsUnaccounted);
        }
        command.err().flush();
        return found.corruptedPages() > 0 || requestsUnaccounted > 0 ? ExitCodes.FAILED : ExitCodes.OK;
    }

    /**
     * All that a replay is told.
     *
     * @param trace a recorded one, or {@code null} for a generated one
     * @param seed for the content of the pages, and a generated trace
     * @param poolBytes size of the page pool of the decode process that is started
     * @param engine settings of the prefill side's engine, which does not listen
     * @param engineArguments the options about its engine for the decode process that is started
     * @param decode where a decode side runs already, or {@code null} to start one
     * @param patience how long to wait for a decode side that is gone before giving up, or {@code null} to give up at once
     */
    record Settings(
            @Nullable Path trace,
            TraceReader.Mode mode,
            Replay.Plan plan,
            ModelPreset model,
            long seed,
            long poolBytes,
            boolean touched,
            EngineOptions engine,
            List<String> engineArguments,
            @Nullable EngineAddress decode,
            @Nullable Duration patience,
            SummaryOption summary) {}
}
