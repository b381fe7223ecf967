import io.sluice.cuda.CudaTransportProvider;
import io.sluice.engine.transport.TransportProvider;
import org.jspecify.annotations.NullMarked;

/** Memory of NVIDIA GPUs for the transfer engine: regions of it, and the paths to it within one host. */
@NullMarked
module io.sluice.cuda {
    requires static transitive org.jspecify;
    requires transitive io.sluice.engine;
    requires io.sluice.jni;
    requires org.slf4j;

    exports io.sluice.cuda;

    provides TransportProvider with
            CudaTransportProvider;
}
