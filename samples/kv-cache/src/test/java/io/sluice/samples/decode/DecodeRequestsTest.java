package io.sluice.samples.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.PoolTooSmallException;
import io.sluice.samples.kvcache.PrefixCache;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecodeRequestsTest {

    private final PrefixCache cache = new PrefixCache(new PageGeometry(2, 64, 64));
    private final DecodeRequests requests = new DecodeRequests(cache);

    @Test
    void whoFindsNoRoomWaitsForItsTurn() {
        assertThat(ids(requests.add(allocate(0, 1024, 1, 2)))).containsExactly(0L);
        assertThat(requests.add(allocate(1, 1024, 3, 4))).isEmpty();
        // There would be room for this one, but the other came first.
        assertThat(requests.add(allocate(2, 16, 5))).isEmpty();
        assertThat(ids(requests.end(0, true))).containsExactly(1L);
        assertThat(ids(requests.end(1, true))).containsExactly(2L);
    }

    @Test
    void pagesThatWereCheckedAreReused() {
        requests.add(allocate(0, 512, 1));
        requests.end(0, true);
        assertThat(requests.add(allocate(1, 512, 1)).getFirst().assignment().movedPages())
                .isZero();
    }

    @Test
    void pagesOfACorruptedRequestAreNot() {
        requests.add(allocate(0, 512, 1));
        requests.end(0, false);
        assertThat(cache.freePages()).isEqualTo(64);
        assertThat(requests.add(allocate(1, 512, 1)).getFirst().assignment().movedPages())
                .isEqualTo(32);
    }

    @Test
    void whatNeverFitsIsTold() {
        assertThatThrownBy(() -> requests.add(allocate(0, 1040, 1, 2, 3)))
                .isInstanceOf(PoolTooSmallException.class)
                .hasMessageContaining("--pool");
    }

    @Test
    void messagesAtTheWrongTimeAreMalformed() {
        requests.add(allocate(0, 16, 1));
        assertThatThrownBy(() -> requests.add(allocate(0, 16, 1))).isInstanceOf(MalformedMessageException.class);
        assertThatThrownBy(() -> requests.received(1)).isInstanceOf(MalformedMessageException.class);
        requests.end(0, true);
        assertThatThrownBy(() -> requests.end(0, true)).isInstanceOf(MalformedMessageException.class);
    }

    @Test
    void thereAreNotAnyNumberOfThem() {
        assertThatThrownBy(() -> {
                    for (int id = 0; id < 2000; id++) {
                        requests.add(allocate(id, 16, id));
                    }
                })
                .isInstanceOf(MalformedMessageException.class);
    }

    private static Allocate allocate(long id, int tokens, long... hashes) {
        return new Allocate(id, tokens, BlockHashes.of(hashes));
    }

    private static List<Long> ids(List<Pages> answers) {
        return answers.stream().map(Pages::requestId).toList();
    }
}
