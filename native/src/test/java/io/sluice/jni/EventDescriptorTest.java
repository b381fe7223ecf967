package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EventDescriptorTest {
    @Test
    void draining_takes_all_signals() {
        int event = SocketPair.check(EventDescriptor.create());
        try {
            assertThat(EventDescriptor.drain(event)).isZero();
            assertThat(EventDescriptor.signal(event)).isZero();
            assertThat(EventDescriptor.signal(event)).isZero();
            assertThat(EventDescriptor.drain(event)).isEqualTo(1);
            assertThat(EventDescriptor.drain(event)).isZero();
        } finally {
            SocketPair.check(Sockets.close(event));
        }
    }

    @Test
    void what_is_no_descriptor_is_an_error() {
        assertThat(EventDescriptor.signal(-1)).isEqualTo(-Errno.EBADF);
        assertThat(EventDescriptor.drain(-1)).isEqualTo(-Errno.EBADF);
    }
}
