package io.sluice.vertx;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages of Vert.x and of other modules that this module may use. */
@AnalyzeClasses(packages = "io.sluice.vertx", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    @ArchTest
    static final ArchRule vertxIsUsedByItsPublicFaceAlone = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx.core.internal..", "io.vertx..impl..", "io.netty..");

    @ArchTest
    static final ArchRule oneClassNeedsMetrics = noClasses()
            .that()
            .doNotHaveSimpleName("BoundMeters")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "io.sluice.metrics..", "io.vertx.micrometer..");

    @ArchTest
    static final ArchRule thereIsNoOtherReactiveLibrary = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams..", "io.sluice.reactor..");
}
