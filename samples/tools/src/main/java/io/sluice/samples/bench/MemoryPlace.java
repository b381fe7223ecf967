package io.sluice.samples.bench;

import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionOptions;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Where a region's memory is: {@code host}, or a GPU by its number or UUID, such as {@code cuda:0}.
 *
 * @param text as it was given
 * @param device the GPU's number or UUID; empty for the host
 */
public record MemoryPlace(String text, String device) {
    /** Memory of the host. */
    public static final MemoryPlace HOST = new MemoryPlace("host", "");

    private static final String GPU = "cuda";
    private static final String UUID_PREFIX = "GPU-";

    /**
     * Reads one: {@code host}, {@code cuda} (for {@code cuda:0}), {@code cuda:NUMBER}, {@code cuda:GPU-UUID} or {@code GPU-UUID}.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    public static MemoryPlace parse(String text) {
        if (text.equals(HOST.text)) {
            return HOST;
        }
        String device = text.equals(GPU) ? "0" : text.startsWith(GPU + ":") ? text.substring(GPU.length() + 1) : text;
        boolean isNumber = !device.equals(text) && device.matches("\\d{1,4}");
        if (!isNumber && !device.startsWith(UUID_PREFIX)) {
            throw new IllegalArgumentException("'" + text + "' is neither host nor a GPU, such as cuda:0 or GPU-UUID");
        }
        return new MemoryPlace(GPU + ":" + device, device);
    }

    /** Whether the processor reaches it. */
    public boolean isHost() {
        return device.isEmpty();
    }

    /**
     * The same with the GPU's UUID, which means the same GPU to every process.
     *
     * @param gpus that this process sees
     * @throws IllegalArgumentException if it is none of them; the message says which there are
     */
    public MemoryPlace among(List<GpuInfo> gpus) {
        if (isHost()) {
            return this;
        }
        return gpus.stream()
                .filter(gpu -> device.equals(gpu.id()) || device.equals(Integer.toString(gpu.ordinal())))
                .findFirst()
                .map(gpu -> new MemoryPlace(text, gpu.id()))
                .orElseThrow(() -> new IllegalArgumentException("there is no GPU " + device + " here; there are "
                        + gpus.stream()
                                .map(gpu -> GPU + ":" + gpu.ordinal() + " (" + gpu.id() + ")")
                                .collect(Collectors.joining(", "))));
    }

    /** Options for memory there; a GPU is to be named by its UUID. */
    public RegionOptions of(RegionOptions options) {
        return isHost() ? options : options.on(MemoryKind.CUDA, device);
    }

    @Override
    public String toString() {
        return text;
    }
}
