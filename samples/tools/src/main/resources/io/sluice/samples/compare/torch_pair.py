"""Sends bytes from one GPU to another by PyTorch, with a process for each: BYTES INFLIGHT WARMUP_MS DURATION_MS."""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

NOT_AVAILABLE = 69
NANOS_PER_SECOND = 1e9


def not_available(why):
    print(f"torch: {why}", file=sys.stderr)
    sys.exit(NOT_AVAILABLE)


# Multicast of NVLink can take the GPUs of a shared machine out of service.
os.environ["NCCL_NVLS_ENABLE"] = "0"
try:
    import torch
    import torch.distributed as distributed
except ImportError as error:
    not_available(f"python3 has no PyTorch: {error}")


def join(rank, meeting):
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=2)


def content(count):
    return torch.arange(count, device="cuda", dtype=torch.int32).remainder_(251).to(torch.uint8)


def event():
    made = torch.cuda.Event()
    made.record()
    return made


def receive(meeting, count, inflight):
    """The other process: it is killed when the first one ends, as it always waits for one more."""
    join(1, meeting)
    memory = torch.zeros(count, dtype=torch.uint8, device="cuda")
    distributed.recv(memory, 0)
    distributed.send(torch.tensor([1 if torch.equal(memory, content(count)) else 0], device="cuda"), 0)
    pending = collections.deque()
    while True:
        distributed.recv(memory, 0)
        pending.append(event())
        if len(pending) > inflight:
            pending.popleft().synchronize()


def send_for(nanos, memory, inflight):
    """How many operations took how long, and what half of them took at most."""
    durations = []
    pending = collections.deque()

    def end_oldest():
        submitted, ended = pending.popleft()
        while not ended.query():
            pass
        durations.append(time.perf_counter_ns() - submitted)

    begun = time.perf_counter_ns()
    while time.perf_counter_ns() - begun < nanos or not durations:
        submitted = time.perf_counter_ns()
        distributed.send(memory, 1)
        pending.append((submitted, event()))
        if len(pending) == inflight:
            end_oldest()
    while pending:
        end_oldest()
    elapsed = time.perf_counter_ns() - begun
    return len(durations), elapsed, sorted(durations)[len(durations) // 2]


def measure(count, inflight, warmup, duration):
    if not torch.cuda.is_available() or torch.cuda.device_count() < 2:
        not_available("PyTorch sees no two GPUs")
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        receiver = subprocess.Popen([sys.executable, __file__, "receive", meeting, str(count), str(inflight)])
        try:
            join(0, meeting)
            memory = content(count)
            good = torch.zeros(1, dtype=torch.int64, device="cuda")
            distributed.send(memory, 1)
            distributed.recv(good, 1)
            if good.item() != 1:
                sys.exit("torch: what has arrived differs from what was sent")
            send_for(warmup * 1e6, memory, inflight)
            operations, nanos, median = send_for(duration * 1e6, memory, inflight)
        finally:
            receiver.kill()
            receiver.wait()
    figures = {
        "op": "torch",
        "bytes": count,
        "pages": 1,
        "inflight": inflight,
        "seconds": nanos / NANOS_PER_SECOND,
        "rate": round(count * operations / nanos * NANOS_PER_SECOND),
        "operations": operations,
        "nanos": nanos,
        "median_nanos": median,
    }
    print(json.dumps(figures), flush=True)
    # the communicator would wait for the other process
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--version"]:
        print(f"PyTorch {torch.__version__}")
    elif sys.argv[1:2] == ["receive"]:
        receive(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        measure(*map(int, sys.argv[1:5]))
