package io.sluice.vertx;

import io.sluice.testkit.Patience;
import io.vertx.core.Vertx;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives a test a Vert.x of its own and closes it afterwards, for which Vert.x's extension has no more than 30 s. */
public final class OwnVertx implements ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(OwnVertx.class);

    /** Made by JUnit. */
    public OwnVertx() {}

    private record Owned(Vertx vertx) implements AutoCloseable {
        @Override
        public void close() {
            Patience.await(vertx.close().toCompletionStage());
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return parameter.getParameter().getType() == Vertx.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
        Vertx vertx = Vertx.vertx();
        test.getStore(NAMESPACE).put(test.getUniqueId(), new Owned(vertx));
        return vertx;
    }
}
