import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Stores the entries of all jars below a folder without compression: what is compressed as a whole afterwards becomes smaller by a
 * seventh, and the program starts sooner. Run from its source, with the folder as the argument.
 */
final class StoredJars {
    private StoredJars() {}

    public static void main(String[] arguments) throws IOException {
        List<Path> jars;
        try (Stream<Path> files = Files.walk(Path.of(arguments[0]))) {
            jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
        for (Path jar : jars) {
            Path stored = jar.resolveSibling(jar.getFileName() + ".stored");
            try (ZipFile from = new ZipFile(jar.toFile());
                    OutputStream file = Files.newOutputStream(stored);
                    ZipOutputStream to = new ZipOutputStream(file)) {
                to.setMethod(ZipOutputStream.STORED);
                // in their order: the manifest is the first
                for (ZipEntry entry : (Iterable<ZipEntry>) from.stream().map(ZipEntry.class::cast)::iterator) {
                    store(entry, from, to);
                }
            }
            Files.move(stored, jar, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void store(ZipEntry entry, ZipFile from, ZipOutputStream to) throws IOException {
        byte[] bytes;
        try (InputStream in = from.getInputStream(entry)) {
            bytes = in.readAllBytes();
        }
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        ZipEntry stored = new ZipEntry(entry.getName());
        stored.setTimeLocal(entry.getTimeLocal());
        stored.setSize(bytes.length);
        stored.setCompressedSize(bytes.length);
        stored.setCrc(checksum.getValue());
        to.putNextEntry(stored);
        to.write(bytes);
        to.closeEntry();
    }
}
