package io.sluice.reactor.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.reactor.ReactiveConnection;
import reactor.core.publisher.Mono;

/** A write that is compared end to end, for the page about integrity. */
final class CheckedWrite {
    private CheckedWrite() {}

    static void write(ReactiveConnection connection, MemoryRegion local, RemoteRegion remote, long length) {
        // begin
        connection
                .write(local, 0, remote, 0, length)
                .then(connection.quiet())
                .then(connection.checksum(remote, 0, length))
                .filter(sum -> sum == local.checksum(0, length))
                .switchIfEmpty(Mono.error(new IllegalStateException("damaged")));
        // end
    }
}
