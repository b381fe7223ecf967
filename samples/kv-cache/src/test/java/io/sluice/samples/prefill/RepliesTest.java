package io.sluice.samples.prefill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.Patience;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RepliesTest {

    private static final Duration BOUND = Patience.BOUND;

    private final DecodeClient.Replies<String> replies = new DecodeClient.Replies<>();

    @Test
    void aReplyGoesToItsRequestEvenIfItIsFasterThanTheSubscription() {
        Mono<String> one = replies.expect(1);
        Mono<String> two = replies.expect(2);
        assertThat(replies.arrived(2, "second")).isTrue();
        assertThat(replies.arrived(1, "first")).isTrue();
        assertThat(one.block(BOUND)).isEqualTo("first");
        assertThat(two.block(BOUND)).isEqualTo("second");
    }

    @Test
    void whatNobodyWaitsForIsNoticed() {
        assertThat(replies.arrived(1, "unexpected")).isFalse();
        Mono<String> one = replies.expect(1);
        replies.arrived(1, "first");
        assertThat(replies.arrived(1, "twice")).isFalse();
        assertThat(one.block(BOUND)).isEqualTo("first");
    }

    @Test
    void aFailureEndsThoseThatWaitAndThoseThatWillAndTheFirstOneCounts() {
        Mono<String> before = replies.expect(1);
        replies.fail(new IllegalStateException("the cause"));
        replies.fail(new IllegalStateException("what followed"));
        Mono<String> after = replies.expect(2);
        assertThatThrownBy(() -> before.block(BOUND)).hasMessage("the cause");
        assertThatThrownBy(() -> after.block(BOUND)).hasMessage("the cause");
    }
}
