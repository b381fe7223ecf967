package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WatchedNamesTest {
    private final WatchedNames names = new WatchedNames();

    private static EngineEntry entry(String name, long epoch) {
        return new EngineEntry(name, new EngineAddress("h", 1, new EngineId(epoch, 0)), epoch, epoch, 0);
    }

    private static WatchedNames.State state(String name, long epoch) {
        return new WatchedNames.State(entry(name, epoch), null);
    }

    private static WatchedNames.State damaged() {
        return new WatchedNames.State(null, new DirectoryFormatException("damaged"));
    }

    @Test
    void theSnapshotComesFirstAndHoldsWhatIsNew() {
        names.snapshot(Map.of("a", state("a", 1)));
        names.update("b", state("b", 1));
        assertThat(names.next())
                .isInstanceOfSatisfying(
                        DirectoryEvent.Snapshot.class,
                        snapshot -> assertThat(snapshot.entries()).containsExactly(entry("a", 1), entry("b", 1)));
        assertThat(names.next()).isNull();
    }

    @Test
    void ofManyChangesTheLastIsTold() {
        names.snapshot(Map.of());
        names.next();
        for (int epoch = 1; epoch <= 100; epoch++) {
            names.update("a", state("a", epoch));
        }
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Published(entry("a", 100)));
        assertThat(names.next()).isNull();
    }

    @Test
    void whatComesBackToWhatWasToldIsNotTold() {
        names.snapshot(Map.of("a", state("a", 1)));
        names.next();
        names.update("a", state("a", 2));
        names.update("a", state("a", 1));
        names.update("b", state("b", 1));
        names.update("b", null);
        assertThat(names.next()).isNull();
    }

    @Test
    void aRemovedNameThatIsBackAsAnotherRunIsARestart() {
        names.snapshot(Map.of("a", state("a", 1)));
        names.next();
        names.update("a", null);
        names.update("a", state("a", 2));
        assertThat(names.next())
                .isInstanceOfSatisfying(
                        DirectoryEvent.Changed.class,
                        changed -> assertThat(changed.isRestart()).isTrue());
    }

    @Test
    void aReconciliationTellsWhatWentUnheard() {
        names.snapshot(Map.of("a", state("a", 1), "b", state("b", 1)));
        names.next();
        names.reconcile(Map.of("b", state("b", 2), "c", state("c", 1)));
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Removed(entry("a", 1)));
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Changed(entry("b", 2), entry("b", 1)));
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Published(entry("c", 1)));
        assertThat(names.next()).isNull();
    }

    @Test
    void anInterruptionIsFollowedByASnapshot() {
        names.snapshot(Map.of("a", state("a", 1)));
        names.next();
        names.interrupt(new DirectoryUnavailableException("gone"));
        names.snapshot(Map.of("b", state("b", 1)));
        assertThat(names.next()).isInstanceOf(DirectoryEvent.Interrupted.class);
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Snapshot(List.of(entry("b", 1))));
        assertThat(names.next()).isNull();
    }

    @Test
    void whatCannotBeReadConcernsItsNameAlone() {
        names.snapshot(Map.of("a", damaged(), "b", state("b", 1)));
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Snapshot(List.of(entry("b", 1))));
        assertThat(names.next()).isInstanceOf(DirectoryEvent.Damaged.class);
        names.update("a", damaged());
        assertThat(names.next()).as("the same once more").isNull();
        names.update("b", damaged());
        assertThat(names.next()).isInstanceOf(DirectoryEvent.Damaged.class);
        names.update("b", state("b", 2));
        assertThat(names.next()).isEqualTo(new DirectoryEvent.Published(entry("b", 2)));
    }
}
