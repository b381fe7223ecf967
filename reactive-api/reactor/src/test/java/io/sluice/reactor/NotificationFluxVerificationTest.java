package io.sluice.reactor;

import io.sluice.testkit.Patience;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.Test;

/** The Reactive Streams rules for the notifications of a connection. */
@Test
public class NotificationFluxVerificationTest extends RetriedVerification<byte[]> {
    public NotificationFluxVerificationTest() {
        super(new TestEnvironment(Patience.BOUND.toMillis(), 50, 50));
    }

    @Override
    public long maxElementsFromPublisher() {
        return 10_000;
    }

    @Override
    public Publisher<byte[]> createPublisher(long elements) {
        FakeConnection connection = FakeConnection.manual();
        for (long i = 0; i < elements; i++) {
            connection.notifications.send(new byte[] {(byte) i});
        }
        connection.notifications.end(null);
        return ReactiveConnection.from(connection).notifications();
    }

    @Override
    public Publisher<byte[]> createFailedPublisher() {
        FakeConnection connection = FakeConnection.manual();
        ReactiveConnection.from(connection).notifications().subscribe();
        return ReactiveConnection.from(connection).notifications();
    }
}
