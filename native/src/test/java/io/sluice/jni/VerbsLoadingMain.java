package io.sluice.jni;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Loads the libraries that properties name, in this order, and tells how that went. */
final class VerbsLoadingMain {
    static final String FIRST = "first";
    static final String SECOND = "second";
    private static final int THREADS = 8;

    private VerbsLoadingMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("before: " + Arrays.toString(VerbsDevice.names()) + " " + VerbsDevice.open("soft0") + " "
                + VerbsCompletionQueue.statusText(0));
        Set<String> causes = ConcurrentHashMap.newKeySet();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = Thread.ofPlatform()
                    .start(() -> causes.add(String.valueOf(VerbsLibrary.load(System.getProperty(FIRST)))));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("causes: " + causes);
        System.out.println("again: " + VerbsLibrary.load(System.getProperty(SECOND)));
        System.out.println("names: " + Arrays.toString(VerbsDevice.names()));
        System.out.println("unknown: " + VerbsDevice.open("no such device"));
        System.out.println("done");
    }
}
