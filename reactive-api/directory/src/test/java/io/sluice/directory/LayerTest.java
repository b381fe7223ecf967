package io.sluice.directory;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Discovery knows the engine and its reactive face, and no directory's client. */
@AnalyzeClasses(packages = "io.sluice.directory", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    @ArchTest
    static final ArchRule discoveryKnowsWhatIsBelowIt = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.collectives",
                    "io.sluice.directory..",
                    "io.sluice.engine",
                    "io.sluice.reactor",
                    "io.sluice.reactor.recovery",
                    "java..",
                    "org.jspecify..",
                    "org.reactivestreams..",
                    "org.slf4j..",
                    "reactor.core..",
                    "reactor.util.context..");

    @ArchTest
    static final ArchRule aStoreKnowsNothingOfEngines = noClasses()
            .that()
            .resideInAPackage("io.sluice.directory.store")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.collectives..", "io.sluice.directory", "io.sluice.engine..", "io.sluice.reactor..");
}
