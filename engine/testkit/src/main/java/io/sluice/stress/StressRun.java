package io.sluice.stress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.TestExecutor;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.TestInfo;
import org.openjdk.jcstress.infra.collectors.DiskWriteCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.MuxCollector;
import org.openjdk.jcstress.infra.collectors.SerializedBufferCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.collectors.TestResultCollector;
import org.openjdk.jcstress.infra.grading.HTMLReportPrinter;
import org.openjdk.jcstress.infra.grading.TextReportPrinter;
import org.openjdk.jcstress.infra.runners.ForkedTestConfig;
import org.openjdk.jcstress.infra.runners.Runner;
import org.openjdk.jcstress.infra.runners.TestConfig;
import org.openjdk.jcstress.infra.runners.TestList;
import org.openjdk.jcstress.os.AffinityMode;
import org.openjdk.jcstress.os.Scheduler;
import org.openjdk.jcstress.os.SchedulingClass;
import org.openjdk.jcstress.os.topology.PresetRegularTopology;
import org.openjdk.jcstress.vm.CompileMode;
import org.openjdk.jcstress.vm.VMSupport;

/**
 * Runs the jcstress tests of the class path, in a process of its own. jcstress's main program leaves out every test that has
 * more threads than the machine has processors, and says so only in passing; this one runs them all, as the operating system
 * takes turns, and fails where one gave no result.
 */
public final class StressRun {
    /** The prefix of a line that reports a forbidden outcome, or a test that could not be run. */
    static final String FAULT = "FAULT ";

    /** Runs all tests in this process. */
    static final String ONE_PROCESS = "--one-process";

    private static final int MOST_ACTORS = 3;
    // each two or three of them take a virtual machine, and memory for it
    private static final int MOST_PROCESSORS = 8;

    private StressRun() {}

    /**
     * Runs them.
     *
     * @param arguments {@code --one-process} to run all tests in this process, without a JVM for each, then jcstress's own
     * @throws Exception if they cannot be run
     */
    public static void main(String[] arguments) throws Exception {
        boolean oneProcess = arguments.length > 0 && arguments[0].equals(ONE_PROCESS);
        Options options = new Options(Arrays.copyOfRange(arguments, oneProcess ? 1 : 0, arguments.length));
        if (!options.parse()) {
            System.exit(2);
        }
        int processors = Math.clamp(Runtime.getRuntime().availableProcessors(), MOST_ACTORS, MOST_PROCESSORS);
        Scheduler scheduler = new Scheduler(new PresetRegularTopology(1, processors, 1), processors);
        Collection<String> tests = matching(options.getTestFilter());

        InProcessCollector results = new InProcessCollector();
        DiskWriteCollector disk = new DiskWriteCollector(options.getResultFile());
        TestResultCollector both = MuxCollector.of(results, disk);
        SerializedBufferCollector sink = new SerializedBufferCollector(both);
        if (oneProcess) {
            for (TestConfig run : runs(options, List.of(List.of()), tests, scheduler, processors)) {
                sink.add(result(run));
            }
        } else {
            VMSupport.initFlags(options);
            VMSupport.detectAvailableVMConfigs(false, options.getJvmArgs(), options.getJvmArgsPrepend());
            List<List<String>> machines = VMSupport.getAvailableVMConfigs().stream()
                    .map(VMSupport.Config::args)
                    .toList();
            new TestExecutor(options.verbosity(), sink, scheduler)
                    .runAll(runs(options, machines, tests, scheduler, processors));
        }
        sink.close();
        disk.close();

        new TextReportPrinter(options, results).work();
        new HTMLReportPrinter(options, results, System.out).work();
        List<String> faults = faults(tests, results.getTestResults());
        faults.forEach(fault -> System.out.println(FAULT + fault));
        System.out.println(tests.size() + " stress tests, " + faults.size() + " faults");
        System.exit(tests.isEmpty() || !faults.isEmpty() ? 1 : 0);
    }

    private static Collection<String> matching(String filter) {
        Collection<String> tests = new TreeSet<>(TestList.tests());
        tests.removeIf(test -> !Pattern.compile(filter).matcher(test).find());
        return tests;
    }

    /** Runs one test here, as jcstress's forked process does. */
    private static TestResult result(TestConfig run) throws ReflectiveOperationException {
        TestResult result = Class.forName(run.generatedRunnerName)
                .asSubclass(Runner.class)
                .getConstructor(ForkedTestConfig.class)
                .newInstance(new ForkedTestConfig(run))
                .run();
        result.setConfig(run);
        return result;
    }

    private static List<TestConfig> runs(
            Options options,
            List<List<String>> machines,
            Collection<String> tests,
            Scheduler scheduler,
            int processors) {
        List<TestConfig> runs = new ArrayList<>();
        for (List<String> machine : machines) {
            for (String test : tests) {
                TestInfo info = TestList.getInfo(test);
                for (SchedulingClass threads :
                        scheduler.scheduleClasses(info.threads(), processors, AffinityMode.NONE)) {
                    for (int fork = 0; fork < options.getForks(); fork++) {
                        runs.add(new TestConfig(options, info, fork, machine, CompileMode.UNIFIED, threads));
                    }
                }
            }
        }
        Collections.shuffle(runs);
        return runs;
    }

    private static List<String> faults(Collection<String> tests, Collection<TestResult> results) {
        List<String> faults = new ArrayList<>();
        Collection<String> silent = new TreeSet<>(tests);
        for (TestResult result : results) {
            String run = result.getName() + " " + result.getConfig().jvmArgs;
            if (result.status() != Status.NORMAL) {
                faults.add(run + ": " + result.status() + " " + result.getMessages() + " " + result.getVmErr());
            } else {
                result.grading().failureMessages.forEach(message -> faults.add(run + ": " + message));
                if (result.getTotalCount() > 0) {
                    silent.remove(result.getName());
                }
            }
        }
        silent.forEach(test -> faults.add(test + ": it gave no result"));
        return faults;
    }
}
