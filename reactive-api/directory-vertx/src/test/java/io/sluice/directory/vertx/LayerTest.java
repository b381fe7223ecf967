package io.sluice.directory.vertx;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages that this directory may use: the directory interface, Reactor, and the public packages of its client. */
@AnalyzeClasses(packages = "io.sluice.directory.vertx", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    @ArchTest
    static final ArchRule knowsItsClientAndTheStoreInterface = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.directory",
                    "io.sluice.directory.store",
                    "io.sluice.directory.vertx",
                    "io.vertx.core",
                    "io.vertx.core.buffer",
                    "io.vertx.core.eventbus",
                    "io.vertx.core.shareddata",
                    "io.vertx.core.spi.cluster",
                    "java..",
                    "org.jspecify..",
                    "org.reactivestreams..",
                    "reactor.core..",
                    "reactor.util..");
}
