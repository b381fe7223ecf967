package io.sluice.directory.redis;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages that this directory may use: the directory interface, Reactor, and the public packages of its client. */
@AnalyzeClasses(packages = "io.sluice.directory.redis", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    @ArchTest
    static final ArchRule knowsItsClientAndTheStoreInterface = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.directory",
                    "io.sluice.directory.store",
                    "io.sluice.directory.redis",
                    "io.lettuce.core..",
                    "java..",
                    "org.jspecify..",
                    "org.reactivestreams..",
                    "reactor.core..",
                    "reactor.util..");
}
