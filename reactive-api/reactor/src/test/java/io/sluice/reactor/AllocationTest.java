package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferElement;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The bytes that this layer allocates for one transfer: a bound that a careless change would break at once. */
class AllocationTest {
    private static final int TRANSFERS = 50_000;
    private static final long MOST_BYTES = 400;

    private final FakeConnection connection = FakeConnection.forgetful(256, FakeTransfer::succeed);
    private final FakeRegion local = new FakeRegion(64);
    private final TransferElement element = connection.element(64);
    private final SignalUpdate update = new RemoteSignal(element.remote(), 0).weak();
    private final ReactiveConnection reactive = ReactiveConnection.from(connection);

    enum Operation {
        WRITE,
        WRITE_WITH_SIGNAL,
        PUT,
        SIGNAL,
        FETCH_ADD,
        COMPARE_AND_SWAP
    }

    @ParameterizedTest
    @EnumSource
    void aSingleTransferIsSmall(Operation operation) {
        Runnable transfers = () -> {
            for (int i = 0; i < TRANSFERS; i++) {
                mono(operation).subscribe(new Sink());
            }
        };
        assertThat(bytesPerTransfer(transfers)).isLessThanOrEqualTo(MOST_BYTES);
    }

    private Mono<?> mono(Operation operation) {
        RemoteRegion remote = element.remote();
        return switch (operation) {
            case WRITE -> reactive.write(local, remote, 0);
            case WRITE_WITH_SIGNAL -> reactive.writeWithSignal(local, remote, 0, update);
            case PUT -> reactive.put(remote, 0, 1, 8);
            case SIGNAL -> reactive.signal(update);
            case FETCH_ADD -> reactive.fetchAdd(remote, 0, 1);
            case COMPARE_AND_SWAP -> reactive.compareAndSwap(remote, 0, 1, 2);
        };
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

    private static final class Sink implements CoreSubscriber<Object> {
        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Object result) {}

        @Override
        public void onError(Throwable error) {
            throw new AssertionError(error);
        }

        @Override
        public void onComplete() {}
    }
}
