import org.jspecify.annotations.NullMarked;

/** Expert parallelism, by callbacks; above teams and the engine's public interface. */
@NullMarked
module io.sluice.experts {
    requires static transitive org.jspecify;
    requires transitive io.sluice.collectives;
    requires transitive io.sluice.engine;
    requires io.sluice.jni;
    requires org.jctools.core;
    requires org.slf4j;

    exports io.sluice.experts;
    exports io.sluice.experts.backend;

    uses io.sluice.experts.backend.CommBackendProvider;
}
