"""Two PyTorch processes, each with a tensor on a GPU of its own, and a sidecar of each that serves it.

The sidecars (SidecarMain) import the tensors by the handles that PyTorch gives, and move scattered pages from the first to the
second and back, in regions at several offsets. PyTorch compares. Prints a line for each region; the exit status says whether all
are equal.

Usage: torch_sidecars.py JAVA CLASS_PATH [OPTION_OF_JAVA...]; needs two GPUs that reach each other, and PyTorch with CUDA.
"""

import multiprocessing
import random
import subprocess
import sys

KIB = 1 << 10
MIB = 1 << 20
TENSOR_BYTES = 1 << 30
CHUNK_BYTES = 16 * MIB
# offset, bytes of a page, pages
REGIONS = [
    (0, KIB, 64),
    (64 * KIB, KIB, 64),
    (MIB + 256, KIB, 64),
    (5 * MIB, 4 * KIB, 512),
    (64 * MIB, 64 * KIB, 1024),
    (TENSOR_BYTES - 4 * KIB, KIB, 4),
]
LONGEST_SECONDS = 240


class Sidecar:
    """A process of SidecarMain: a line for each line."""

    def __init__(self, java):
        self.process = subprocess.Popen(
            java + ["io.sluice.cuda.SidecarMain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.address = self.answer("READY")

    def answer(self, expected):
        line = self.process.stdout.readline().strip()
        if not line.startswith(expected):
            raise RuntimeError(f"the sidecar answers {line!r} in place of {expected}")
        return line[len(expected) :].strip()

    def ask(self, expected, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        return self.answer(expected)

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


class Owner:
    """A tensor on one GPU, and what its bytes should be."""

    def __init__(self, ordinal, seed):
        import torch

        self.torch = torch
        self.device = torch.device("cuda", ordinal)
        torch.cuda.set_device(self.device)
        self.seed = seed
        self.tensor = torch.empty(TENSOR_BYTES, dtype=torch.uint8, device=self.device)
        for at in range(0, TENSOR_BYTES, CHUNK_BYTES):
            self.tensor[at : at + CHUNK_BYTES] = self.pattern(seed, at, CHUNK_BYTES)
        torch.cuda.synchronize()
        uuid = str(torch.cuda.get_device_properties(ordinal).uuid)
        self.gpu = uuid if uuid.startswith("GPU-") else "GPU-" + uuid
        shared = self.tensor.untyped_storage()._share_cuda_()
        self.handle = bytes(shared[1]).hex()
        self.offset = shared[3] + self.tensor.storage_offset() * self.tensor.element_size()

    def pattern(self, seed, at, length):
        index = self.torch.arange(at, at + length, dtype=self.torch.int64, device=self.device)
        return ((index * 2654435761 + seed * 40503) >> 16).to(self.torch.uint8)

    def serve(self, sidecar):
        """Descriptors of the regions."""
        return [
            sidecar.ask("REGION", "import", f"r{number}", self.gpu, self.handle, self.offset + at, size * pages)
            for number, (at, size, pages) in enumerate(REGIONS)
        ]

    def is_pattern(self, seed, region, moved, taken):
        """Whether the pages moved hold what the pages taken hold of the pattern, and all others what they held."""
        at, size, pages = region
        expected = self.pattern(self.seed, at, size * pages)
        source = self.pattern(seed, at, size * pages)
        for to, origin in zip(moved, taken):
            expected[to * size : (to + 1) * size] = source[origin * size : (origin + 1) * size]
        return self.torch.equal(self.tensor[at : at + size * pages], expected)

    def outside_is_untouched(self):
        """Whether the bytes between the regions are those of the beginning."""
        touched = [(at, at + size * pages) for at, size, pages in REGIONS]
        for at in range(0, TENSOR_BYTES, CHUNK_BYTES):
            now = self.tensor[at : at + CHUNK_BYTES]
            expected = self.pattern(self.seed, at, CHUNK_BYTES)
            for begin, end in touched:
                low, high = max(begin, at), min(end, at + CHUNK_BYTES)
                if low < high:
                    expected[low - at : high - at] = now[low - at : high - at]
            if not self.torch.equal(now, expected):
                return False
        return True


def shuffled(count, pages, seed):
    numbers = list(range(pages))
    random.Random(seed).shuffle(numbers)
    return numbers[:count]


def plan(number):
    """For a region: pages written from and to, then pages read from (of those not written) and to."""
    _, _, pages = REGIONS[number]
    half = pages // 2
    remote = shuffled(pages, pages, 3 * number)
    local = shuffled(pages, pages, 3 * number + 1)
    return local[:half], remote[:half], remote[half:], local[half:]


def numbers(pages):
    return ",".join(str(page) for page in pages)


def run(ordinal, java, channel):
    """A process of PyTorch's: the second serves its tensor, the first moves."""
    owner = Owner(ordinal, ordinal + 1)
    sidecar = Sidecar(java)
    descriptors = owner.serve(sidecar)
    equal = True
    if ordinal == 1:
        channel.send((sidecar.address, descriptors))
        channel.recv()
    else:
        address, remotes = channel.recv()
        sidecar.ask("CONNECTED", "connect", address)
        for number, remote in enumerate(remotes):
            size = REGIONS[number][1]
            from_local, to_remote, from_remote, to_local = plan(number)
            for words in (
                ("write", f"r{number}", remote, size, numbers(from_local), numbers(to_remote)),
                ("read", f"r{number}", remote, size, numbers(to_local), numbers(from_remote)),
            ):
                path = sidecar.ask("MOVED", *words)
                equal &= path == "cuda"
                print(f"region {number} {words[0]}: {len(from_local)} pages of {size} B by {path}", flush=True)
        channel.send("moved")
    for number, region in enumerate(REGIONS):
        from_local, to_remote, from_remote, to_local = plan(number)
        moved, taken = (to_remote, from_local) if ordinal == 1 else (to_local, from_remote)
        same = owner.is_pattern(2 - ordinal, region, moved, taken)
        print(f"GPU {ordinal} region {number} at {region[0]}: {'equal' if same else 'DIFFERENT'}", flush=True)
        equal &= same
    untouched = owner.outside_is_untouched()
    print(f"GPU {ordinal} outside of the regions: {'equal' if untouched else 'DIFFERENT'}", flush=True)
    # the peer attaches regions of the second
    if ordinal == 0:
        for number in range(len(REGIONS)):
            sidecar.ask("CLOSED", "close", f"r{number}")
        status = sidecar.close()
        channel.send("closed")
    else:
        channel.recv()
        for number in range(len(REGIONS)):
            sidecar.ask("CLOSED", "close", f"r{number}")
        status = sidecar.close()
    if not (equal and untouched and status == 0):
        sys.exit(1)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    java = [sys.argv[1], "--enable-native-access=ALL-UNNAMED", *sys.argv[3:], "-cp", sys.argv[2]]
    context = multiprocessing.get_context("spawn")
    first, second = context.Pipe()
    processes = [
        context.Process(target=run, args=(ordinal, java, channel)) for ordinal, channel in enumerate((first, second))
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LONGEST_SECONDS)
        if process.is_alive():
            process.kill()
    sys.exit(0 if all(process.exitcode == 0 for process in processes) else 1)


if __name__ == "__main__":
    main()
