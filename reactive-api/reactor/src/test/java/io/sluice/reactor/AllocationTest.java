package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What one transfer costs this layer in memory: a bound that a careless change would break at once. */
class AllocationTest {
    private static final int TRANSFERS = 50_000;
    private static final long MOST_BYTES = 400;

    private final FakeConnection connection = FakeConnection.forgetful(256, FakeTransfer::succeed);
    private final FakeRegion local = new FakeRegion(64);
    private final TransferElement element = connection.element(64);
    private final ReactiveConnection reactive = ReactiveConnection.from(connection);

    @Test
    void aSingleTransferIsSmall() {
        Runnable transfers = () -> {
            for (int i = 0; i < TRANSFERS; i++) {
                Mono<TransferResult> write = reactive.write(local, element.remote(), 0);
                write.subscribe(new Sink());
            }
        };
        assertThat(bytesPerTransfer(transfers)).isLessThanOrEqualTo(MOST_BYTES);
    }

    @Test
    void anElementOfAVectoredTransferIsSmall() {
        Flux<TransferElement> elements = Flux.range(0, TRANSFERS).map(i -> element);
        Runnable transfers = () -> reactive.writeVectored(elements).subscribe(new Sink());
        assertThat(bytesPerTransfer(transfers)).isLessThanOrEqualTo(MOST_BYTES);
    }

    private static long bytesPerTransfer(Runnable transfers) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        transfers.run();
        long before = threads.getCurrentThreadAllocatedBytes();
        transfers.run();
        long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / TRANSFERS;
        System.out.println("bytes a transfer, with the fake connection's: " + bytes);
        return bytes;
    }

    private static final class Sink implements CoreSubscriber<TransferResult> {
        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(TransferResult result) {}

        @Override
        public void onError(Throwable error) {
            throw new AssertionError(error);
        }

        @Override
        public void onComplete() {}
    }
}
