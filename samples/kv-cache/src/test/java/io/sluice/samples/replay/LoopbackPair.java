package io.sluice.samples.replay;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.decode.DecodeNode;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.prefill.PrefillSession;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A decode node in this process, and prefill sides for it. */
final class LoopbackPair implements AutoCloseable {

    static final Duration BOUND = Patience.BOUND;

    private final ReactiveTransferEngine decodeEngine =
            ReactiveTransferEngine.open(patient().build());
    private final ReactiveTransferEngine prefillEngine =
            ReactiveTransferEngine.open(patient().noListener().build());
    private final List<DecodeNode.SessionReport> reports = new CopyOnWriteArrayList<>();
    private final Disposable serving;
    private final EngineAddress address;

    LoopbackPair(ModelPreset model, int slots) {
        this(model, slots, false);
    }

    LoopbackPair(ModelPreset model, int slots, boolean touched) {
        PageGeometry geometry = new PageGeometry(model.layers(), model.pageBytes(), slots);
        DecodeNode node = new DecodeNode(decodeEngine, model, geometry, touched);
        address = node.address();
        serving = node.sessions().subscribe(reports::add);
    }

    /** A side that gets no processor for a while is not given up. */
    private static EngineOptions.Builder patient() {
        return PatientOptions.builder().livenessTimeout(BOUND);
    }

    /** How the sessions ended that have ended. */
    List<DecodeNode.SessionReport> reports() {
        return reports;
    }

    /** A connection that nothing was said on yet. */
    ReactiveConnection connect() {
        return await(prefillEngine.connect(address));
    }

    /** A prefill side that has introduced itself. */
    PrefillSession open(ModelPreset model) {
        return await(PrefillSession.open(prefillEngine, connect(), model, 1));
    }

    static <T> T await(Mono<T> mono) {
        T value = mono.block(BOUND);
        if (value == null) {
            throw new AssertionError("it ended without a value");
        }
        return value;
    }

    @Override
    public void close() {
        prefillEngine.engine().close();
        decodeEngine.engine().close();
        serving.dispose();
    }
}
