package io.sluice.directory;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.Rendezvous;
import io.sluice.engine.TransferEngine;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Ranks of a team that find each other in a directory; needs {@code sluice-collectives}. Each publishes its address
 * under the team's name and its rank, waits for all, and meets the others at rank 0. Its entry is withdrawn afterwards.
 * An entry that a dead run has left is replaced by the rank's next run. One object serves any number of teams.
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class DirectoryRendezvous implements Rendezvous {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryRendezvous.class);
    private static final String PREFIX = "sluice-team/";

    private final Directory directory;

    private DirectoryRendezvous(Directory directory) {
        this.directory = Objects.requireNonNull(directory, "directory");
    }

    /**
     * Returns a rendezvous in a directory.
     *
     * @param directory the same for all ranks; stays open
     * @return for {@link io.sluice.collectives.TeamOptions#rendezvous(Rendezvous)}
     */
    public static DirectoryRendezvous in(Directory directory) {
        return new DirectoryRendezvous(directory);
    }

    /** The team's part of names; others than plain ones are encoded. */
    private static String prefix(String team) {
        boolean plain = team.chars()
                .allMatch(c -> (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-');
        String encoded = Base64.getUrlEncoder().withoutPadding().encodeToString(team.getBytes(StandardCharsets.UTF_8));
        return PREFIX + (plain ? team : "~" + encoded) + "/";
    }

    @Override
    public CompletableFuture<List<byte[]>> exchange(
            TransferEngine engine, String team, int rank, int size, byte[] bytes, Duration timeout) {
        String prefix = prefix(team);
        long end = System.nanoTime() + timeout.toNanos();
        Map<String, EngineEntry> entries = new ConcurrentHashMap<>();
        Advertisement own = new Advertisement(prefix + rank, engine.address(), engine.epoch(), new TreeMap<>());
        Mono<List<byte[]>> exchange = directory
                .watch(prefix)
                .map(event -> {
                    note(event, entries);
                    return isComplete(entries, prefix, size);
                })
                .filter(complete -> complete)
                .map(complete -> Objects.requireNonNull(entries.get(prefix + 0)))
                // one who was there before rank 0's new run goes there again
                .distinctUntilChanged(EngineEntry::address)
                .switchMap(zero -> Mono.fromFuture(() -> Rendezvous.at(zero.address())
                        .exchange(
                                engine,
                                team,
                                rank,
                                size,
                                bytes,
                                Duration.ofNanos(Math.max(1, end - System.nanoTime())))))
                .next()
                .timeout(timeout)
                .onErrorMap(TimeoutException.class, late -> late(team, missing(entries, prefix, size), timeout));
        CompletableFuture<List<byte[]>> exchanged = new CompletableFuture<>();
        Mono.usingWhen(directory.publish(own), publication -> exchange, DirectoryRendezvous::withdraw)
                .switchIfEmpty(Mono.error(() -> new DirectoryClosedException(
                        "the directory was closed before the ranks of team '" + team + "' had met")))
                .subscribe(exchanged::complete, exchanged::completeExceptionally);
        return exchanged;
    }

    private static Mono<Void> withdraw(Publication publication) {
        return publication.withdraw().onErrorResume(error -> {
            // it expires with its lease
            LOG.debug("{} was not withdrawn", publication.entry().name(), error);
            return Mono.empty();
        });
    }

    private static void note(DirectoryEvent event, Map<String, EngineEntry> entries) {
        switch (event) {
            case DirectoryEvent.Snapshot all -> {
                Map<String, EngineEntry> now =
                        all.entries().stream().collect(Collectors.toMap(EngineEntry::name, entry -> entry));
                entries.keySet().retainAll(now.keySet());
                entries.putAll(now);
            }
            case DirectoryEvent.Published added -> entries.put(added.entry().name(), added.entry());
            case DirectoryEvent.Changed changed -> entries.put(changed.entry().name(), changed.entry());
            case DirectoryEvent.Removed removed ->
                entries.remove(removed.previous().name());
            case DirectoryEvent.Damaged damaged -> entries.remove(damaged.name());
            case DirectoryEvent.Interrupted interrupted -> LOG.debug("the ranks of a team wait", interrupted.cause());
        }
    }

    private static boolean isComplete(Map<String, EngineEntry> entries, String prefix, int size) {
        return missing(entries, prefix, size).isEmpty();
    }

    private static List<Integer> missing(Map<String, EngineEntry> entries, String prefix, int size) {
        return IntStream.range(0, size)
                .filter(rank -> !entries.containsKey(prefix + rank))
                .boxed()
                .toList();
    }

    private static CollectiveTimeoutException late(String team, List<Integer> missing, Duration timeout) {
        return new CollectiveTimeoutException(
                missing.isEmpty()
                        ? "the ranks of team '" + team
                                + "' are in the directory, but have not all met at rank 0 within " + timeout
                        : "ranks " + missing + " of team '" + team + "' have not come to the directory within "
                                + timeout);
    }
}
