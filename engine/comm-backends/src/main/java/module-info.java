import io.sluice.comm.nccl.NcclBackendProvider;
import io.sluice.comm.nccl.NcclTransportProvider;
import io.sluice.comm.nvshmem.NvshmemBackendProvider;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.experts.backend.CommBackendProvider;
import org.jspecify.annotations.NullMarked;

/**
 * NCCL and NVSHMEM as communication back ends of expert buffers, and NCCL as a transport of engines. Both libraries are opened at run
 * time, if at all.
 */
@NullMarked
module io.sluice.comm {
    requires static transitive org.jspecify;
    requires transitive io.sluice.experts;
    requires io.sluice.collectives;
    requires transitive io.sluice.engine;
    requires io.sluice.jni;
    requires org.slf4j;

    exports io.sluice.comm.nccl;
    exports io.sluice.comm.nvshmem;

    provides CommBackendProvider with
            NcclBackendProvider,
            NvshmemBackendProvider;
    provides TransportProvider with
            NcclTransportProvider;
}
