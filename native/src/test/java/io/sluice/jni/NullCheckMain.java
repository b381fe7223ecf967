package io.sluice.jni;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads a library that puts handlers of signals in place, and catches exceptions of null checks that compiled code leaves to the
 * processor: before, in a second thread while it loads, and afterwards.
 */
final class NullCheckMain {
    /** The library to load. */
    static final String LIBRARY = "library";
    /** The folder of the files that make the library go on; without it nothing is caught while it loads. */
    static final String FOLDER = "folder";
    /** Whether the library is loaded as any other, and not by {@link VerbsLibrary}. */
    static final String PLAINLY = "plainly";

    static final int MANY = 10_000;
    private static final int WARM = 50_000;

    private static final class Box {
        int value = 1;
    }

    /** Counts the errors that it catches until it is stopped. */
    private static final class Second extends Thread {
        volatile long caught;
        volatile boolean isToEnd;

        @Override
        public void run() {
            long count = 0;
            while (!isToEnd) {
                count += catchOne(missing);
                caught = count;
            }
        }
    }

    private static volatile @Nullable Box missing;

    private NullCheckMain() {}

    private static int read(@Nullable Box box) {
        return box.value;
    }

    private static int catchOne(@Nullable Box box) {
        try {
            return read(box) - 1;
        } catch (NullPointerException e) {
            return 1;
        }
    }

    private static int caught(@Nullable Box box, int times) {
        int caught = 0;
        for (int i = 0; i < times; i++) {
            caught += catchOne(box);
        }
        return caught;
    }

    public static void main(String[] arguments) throws Exception {
        // Compiled while nothing is null, so that the check is left to the processor.
        if (caught(new Box(), WARM) != 0) {
            throw new AssertionError("caught what was not thrown");
        }
        Second second = new Second();
        String folder = System.getProperty(FOLDER);
        Thread watcher = Thread.ofPlatform().unstarted(() -> watch(second, Path.of(String.valueOf(folder))));
        if (folder != null) {
            second.start();
            rehearse(second, Path.of(folder, "rehearsal"));
            watcher.start();
        }
        load(System.getProperty(LIBRARY));
        watcher.join();
        second.isToEnd = true;
        second.join();
        System.out.println("caught afterwards: " + caught(missing, MANY));
        System.out.println("names: " + String.join(" ", VerbsDevice.names()));
        System.out.println("caught at last: " + caught(missing, MANY));
        System.out.println("claim: " + VerbsLibrary.claim());
        System.out.println("done");
    }

    private static void load(String library) {
        if (Boolean.getBoolean(PLAINLY)) {
            System.load(library);
        } else {
            System.out.println("cause: " + VerbsLibrary.load(library));
        }
    }

    /**
     * Does all that happens while the library loads once before: the linker's lock is held meanwhile, and a native method that
     * is called for the first time waits for it, and with that thread the next safepoint. A collection is a part of that: what
     * the second thread catches fills the heap, and the virtual machine's own threads handle the references that it clears.
     */
    private static void rehearse(Second second, Path folder) throws Exception {
        ReferenceQueue<Object> cleared = new ReferenceQueue<>();
        List<Reference<Object>> references =
                List.of(new WeakReference<>(new Object(), cleared), new PhantomReference<>(new Object(), cleared));
        System.gc();
        for (int i = 0; i < references.size(); i++) {
            cleared.remove();
        }
        Files.createDirectory(folder);
        Thread.sleep(1);
        if (!Files.exists(folder.resolve("claimed"))) {
            Files.createFile(folder.resolve("claimed"));
        }
        watch(second, folder);
    }

    /** Lets the second thread catch many while the library is held in what it does, and then lets the library go on. */
    private static void watch(Second second, Path folder) {
        try {
            while (!Files.exists(folder.resolve("claimed"))) {
                Thread.sleep(1);
            }
            long before = second.caught;
            while (second.caught - before < MANY) {
                Thread.sleep(1);
            }
            System.out.println("caught in " + folder.getFileName());
            Files.createFile(folder.resolve("go"));
        } catch (Exception e) {
            e.printStackTrace(System.out);
            Runtime.getRuntime().halt(1);
        }
    }
}
