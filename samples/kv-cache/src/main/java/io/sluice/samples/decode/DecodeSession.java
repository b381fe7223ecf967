package io.sluice.samples.decode;

import io.sluice.reactor.ReactiveConnection;
import io.sluice.samples.control.ControlLink;
import io.sluice.samples.control.ControlMessage;
import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.control.RefusedException.RefusalReason;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.PoolTooSmallException;
import io.sluice.samples.kvcache.PrefixCache;
import io.sluice.samples.kvcache.RequestPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The decode side of one connection. Its state is touched on one scheduler's single thread; pages are checked on
 * another.
 */
final class DecodeSession {
    private static final Logger LOG = LoggerFactory.getLogger(DecodeSession.class);

    /** How long a refusal may take on its way before the connection is closed behind it. */
    private static final Duration LAST_WORD = Duration.ofSeconds(2);

    /** More messages at once than a prefill side of this program sends. */
    private static final int MESSAGES_IN_FLIGHT = 2048;

    private final ReactiveConnection connection;
    private final ControlLink link;
    private final ModelPreset model;
    private final ReceivedPages memory;
    private final DecodeRequests requests;
    private final Scheduler conversation;
    private final Scheduler checks;
    private boolean greeted;
    private long requestsChecked;
    private long pagesChecked;
    private long pagesCorrupted;

    /**
     * Prepares; nothing happens yet.
     *
     * @param memory where they go; this session's alone
     * @param conversation a single thread
     */
    DecodeSession(
            ReactiveConnection connection,
            ModelPreset model,
            ReceivedPages memory,
            Scheduler conversation,
            Scheduler checks) {
        this.connection = connection;
        this.link = new ControlLink(connection.withScheduler(conversation));
        this.model = model;
        this.memory = memory;
        this.requests = new DecodeRequests(new PrefixCache(memory.geometry()));
        this.conversation = conversation;
        this.checks = checks;
    }

    /** Serves until the connection ends, or until the other side does what can't be gone along with; never fails. */
    Mono<DecodeNode.SessionReport> run() {
        return link.received()
                .flatMap(this::answers, MESSAGES_IN_FLIGHT)
                .flatMap(link::send)
                .then(Mono.fromSupplier(() -> report(null)))
                .onErrorResume(error -> lastWord(error).then(Mono.fromSupplier(() -> report(error))));
    }

    private DecodeNode.SessionReport report(@Nullable Throwable error) {
        return new DecodeNode.SessionReport(requestsChecked, pagesChecked, pagesCorrupted, error);
    }

    private Flux<? extends ControlMessage> answers(ControlMessage message) {
        return switch (message) {
            case Hello hello -> Flux.just(welcome(hello));
            case Allocate allocate -> Flux.fromIterable(requests.add(greeted(allocate)));
            case Last last -> check(last.requestId());
            default ->
                throw new MalformedMessageException(
                        "the prefill side has sent a message that only a decode side sends: "
                                + message.getClass().getSimpleName());
        };
    }

    private ControlMessage welcome(Hello hello) {
        PageGeometry geometry = memory.geometry();
        if (!hello.model().equals(model.name())
                || hello.layers() != geometry.layers()
                || hello.pageBytes() != geometry.pageBytes()) {
            throw new RefusedException(
                    RefusalReason.OTHER_MODEL,
                    ("the decode side serves %s (%d layers, pages of %d bytes), the prefill side moves %s (%d layers,"
                                    + " pages of %d bytes): give both the same --model")
                            .formatted(
                                    model.name(),
                                    geometry.layers(),
                                    geometry.pageBytes(),
                                    hello.model(),
                                    hello.layers(),
                                    hello.pageBytes()));
        }
        greeted = true;
        return new Welcome(
                geometry.slots(), memory.pages().descriptor(), memory.seals().descriptor());
    }

    private Allocate greeted(Allocate allocate) {
        if (!greeted) {
            throw new MalformedMessageException("the prefill side has not introduced itself");
        }
        return allocate;
    }

    private Flux<ControlMessage> check(long requestId) {
        RequestPlan plan = requests.received(requestId);
        return Mono.fromCallable(() -> memory.corrupted(requestId, plan))
                .subscribeOn(checks)
                .publishOn(conversation)
                .flatMapIterable(corrupted -> end(requestId, plan.pagesMoved(), corrupted));
    }

    private List<ControlMessage> end(long requestId, long checked, long corrupted) {
        requestsChecked++;
        pagesChecked += checked;
        pagesCorrupted += corrupted;
        List<Pages> admitted = requests.end(requestId, corrupted == 0);
        List<ControlMessage> answers = new ArrayList<>(admitted.size() + 1);
        answers.add(new Result(requestId, checked, corrupted));
        answers.addAll(admitted);
        return answers;
    }

    /** Tells the other side why, if it is there to be told, and closes the connection. */
    private Mono<Void> lastWord(Throwable error) {
        Mono<Void> told = switch (error) {
            case PoolTooSmallException e -> tell(RefusalReason.POOL_TOO_SMALL, e);
            case RefusedException e -> tell(e.reason(), e);
            case MalformedMessageException e -> tell(RefusalReason.PROTOCOL, e);
            default -> Mono.empty();
        };
        return told.then(connection.close()).onErrorResume(closing -> {
            LOG.debug("{} did not close in order", connection, closing);
            return Mono.empty();
        });
    }

    private Mono<Void> tell(RefusalReason reason, Throwable error) {
        return link.send(new Refused(reason, String.valueOf(error.getMessage())))
                .timeout(LAST_WORD)
                .onErrorComplete();
    }
}
