import static org.junit.platform.engine.discovery.ClassNameFilter.STANDARD_INCLUDE_PATTERN;
import static org.junit.platform.engine.discovery.ClassNameFilter.excludeClassNamePatterns;
import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.launcher.TagFilter.excludeTags;
import static org.junit.platform.launcher.TagFilter.includeTags;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.MethodFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.junit.platform.reporting.legacy.xml.LegacyXmlReportGeneratingListener;

/**
 * Runs JUnit tests in a guest as JUnit's console launcher does, with selections of the same words. The launcher reads its
 * command line with classes that no archive takes: where the processor is emulated that costs seconds at every start.
 *
 * <p>Usage: {@code GuestTests REPORTS SELECTION...}. REPORTS is a folder that exists. The exit status is 1 where a test
 * failed, and 2 where none ran.
 */
final class GuestTests {
    public static void main(String[] arguments) throws IOException {
        PrintStream feed = System.out;
        Path reports = Path.of(arguments[0]);
        System.setOut(new PrintStream(Files.newOutputStream(reports.resolve("out.log")), true));
        System.setErr(new PrintStream(Files.newOutputStream(reports.resolve("err.log")), true));
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .filters(EngineFilter.includeEngines("junit-jupiter"))
                .filters(includeClassNamePatterns(STANDARD_INCLUDE_PATTERN))
                .configurationParameter("junit.jupiter.execution.timeout.default", "900s");
        for (int i = 1; i < arguments.length; i++) {
            String[] option = arguments[i].split("=", 2);
            select(request, option[0], option[1]);
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        request.build(),
                        summary,
                        new Feed(feed),
                        new LegacyXmlReportGeneratingListener(reports, new PrintWriter(feed, true)));
        TestExecutionSummary counts = summary.getSummary();
        counts.printTo(new PrintWriter(feed, true));
        System.exit(counts.getTotalFailureCount() > 0 ? 1 : counts.getTestsFoundCount() == 0 ? 2 : 0);
    }

    private static void select(LauncherDiscoveryRequestBuilder request, String option, String value) {
        switch (option) {
            case "--select-package" -> request.selectors(DiscoverySelectors.selectPackage(value));
            case "--select-class" -> request.selectors(DiscoverySelectors.selectClass(value));
            case "--select-method" -> request.selectors(DiscoverySelectors.selectMethod(value));
            case "--select-iteration" ->
                request.selectors(DiscoverySelectors.parse("iteration:" + value).orElseThrow());
            case "--include-tag" -> request.filters(includeTags(value));
            case "--exclude-tag" -> request.filters(excludeTags(value));
            case "--exclude-classname" -> request.filters(excludeClassNamePatterns(value));
            case "--exclude-methodname" -> request.filters(MethodFilter.excludeMethodNamePatterns(value));
            default -> throw new IllegalArgumentException(option + " is none of the options that guests take");
        }
    }

    /** Says of each test that it has started, and how it has ended. */
    private record Feed(PrintStream out) implements TestExecutionListener {
        @Override
        public void executionStarted(TestIdentifier test) {
            say(test, "STARTED");
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            say(test, "SKIPPED");
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            say(test, result.getStatus().name());
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                result.getThrowable().orElseThrow().printStackTrace(out);
            }
        }

        private void say(TestIdentifier test, String what) {
            if (test.getSource().orElse(null) instanceof MethodSource method && test.isTest()) {
                String type = method.getClassName().replaceFirst(".*\\.", "");
                out.println("JUnit " + what + " " + type + "." + test.getLegacyReportingName());
            }
        }
    }
}
