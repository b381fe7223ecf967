import io.sluice.engine.transport.TransportProvider;
import io.sluice.engine.transport.shm.ShmTransportProvider;
import io.sluice.engine.transport.tcp.TcpTransportProvider;
import io.sluice.engine.transport.verbs.VerbsTransportProvider;
import org.jspecify.annotations.NullMarked;

/** The transfer engine, by callbacks; no reactive dependency. */
@NullMarked
module io.sluice.engine {
    requires static transitive org.jspecify;
    requires io.sluice.jni;
    requires java.management;
    requires org.jctools.core;
    requires org.slf4j;

    exports io.sluice.engine;
    exports io.sluice.engine.transport;
    exports io.sluice.engine.transport.shm;
    exports io.sluice.engine.transport.verbs;

    uses TransportProvider;

    provides TransportProvider with
            ShmTransportProvider,
            TcpTransportProvider,
            VerbsTransportProvider;
}
