import org.jspecify.annotations.NullMarked;

/** Collectives of N engines, by callbacks; above the engine's public interface alone. */
@NullMarked
module io.sluice.collectives {
    requires static transitive org.jspecify;
    requires transitive io.sluice.engine;
    requires io.sluice.jni;
    requires org.jctools.core;
    requires org.slf4j;

    exports io.sluice.collectives;
}
