package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionListener;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/** Calls its listener once for each connection, though the connection may be reported twice. */
final class OnceListener implements ConnectionListener {
    private final ConnectionListener listener;
    private final Set<Connection> told = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    OnceListener(ConnectionListener listener) {
        this.listener = listener;
    }

    @Override
    public void accepted(Connection connection) {
        if (told.add(connection)) {
            listener.accepted(connection);
        }
    }
}
