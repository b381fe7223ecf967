"""Carries tokens to the ranks of their experts, and results back, by PyTorch with a process for each of two GPUs.

DEVICE MODE FORMAT TOKENS HIDDEN TOP_K EXPERTS WARMUP_MS DURATION_MS, where DEVICE is cuda, or cpu to check the results alone; MODE is
low-latency or normal; FORMAT is bf16 or fp8. A token travels once to each rank that has experts of its. In low latency it has a row at
each of its experts, whose results come back one by one and are weighted; in normal mode it has a row at each rank, whose results are
added. Where tokens go is found in each dispatch of low latency, and once in normal mode.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time

NOT_AVAILABLE = 69
RANKS = 2
GROUP = 128
LARGEST_CODE = 448.0
VECTOR = 16
# as in ours: of what follows each other
ROUND_MICROS = 50_000
MOST_STEPS = 40
LEAST_ROUNDS = 3
MOST_ROUNDS = 100
MEASUREMENTS = 3


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


def aligned(size):
    return (size + VECTOR - 1) // VECTOR * VECTOR


def vectors_of(rows):
    """The same memory in elements of 16 bytes, which kernels move at once."""
    return rows.view(torch.complex128)


def bytes_of(rows):
    return rows.view(torch.uint8)


def gather(to, rows, index):
    """Rows by their index, into memory that is there already."""
    torch.index_select(vectors_of(rows), 0, index, out=vectors_of(to[: index.numel()]))


class HostCopy:
    """What the host waits for, while the GPU goes on with what it was given after that."""

    def __init__(self, source):
        self.source = source
        self.event = torch.cuda.Event() if source.is_cuda else None
        self.copy = torch.empty(source.shape, dtype=source.dtype, pin_memory=source.is_cuda)

    def start(self):
        self.copy.copy_(self.source, non_blocking=True)
        if self.event:
            self.event.record()

    def wait(self):
        if self.event:
            self.event.synchronize()
        return self.copy.tolist()


class Plan:
    def __init__(self, rank, device, mode, form, tokens, hidden, top_k, experts):
        self.rank = rank
        self.device = torch.device(device, rank) if device == "cuda" else torch.device(device)
        self.is_normal = mode == "normal"
        self.is_quantised = form == "fp8"
        self.tokens, self.hidden, self.top_k, self.experts = tokens, hidden, top_k, experts
        self.local = experts // RANKS
        self.first = rank * self.local

    def empty(self, *shape, dtype=torch.uint8):
        return torch.empty(shape, dtype=dtype, device=self.device)


class Content:
    """The tokens of all ranks, their experts and weights; every rank knows all. Weights are numbers of bfloat16."""

    def __init__(self, plan):
        random = torch.Generator().manual_seed(20)
        shape = (RANKS, plan.tokens)
        table = torch.rand(*shape, plan.experts, generator=random)
        self.choices = table.topk(plan.top_k, dim=2).indices.to(plan.device)
        self.weights = torch.randint(1, 128, (*shape, plan.top_k), generator=random).to(plan.device) / 128.0
        self.x = torch.randn(*shape, plan.hidden, generator=random, dtype=torch.float32).to(torch.bfloat16).to(plan.device)
        # what an expert, or a rank, multiplies by
        self.factors = (1 + torch.arange(plan.experts, device=plan.device) % 8 / 8).to(torch.bfloat16)
        owners = self.choices // plan.local
        self.goes = torch.zeros(*shape, RANKS, dtype=torch.bool, device=plan.device).scatter_(2, owners, True)
        self.vectors = float(self.goes.sum()) / RANKS if plan.is_normal else plan.tokens * plan.top_k

    def sums(self, plan):
        """What combine is to give this rank, in float32."""
        x = self.x[plan.rank].unsqueeze(1)
        if plan.is_normal:
            made = (x * self.factors[:RANKS].view(1, RANKS, 1)).float()
            return (made * self.goes[plan.rank].unsqueeze(2)).sum(1)
        made = (x * self.factors[self.choices[plan.rank]].unsqueeze(2)).float()
        return (made * self.weights[plan.rank].unsqueeze(2)).sum(1)


class Message:
    """A token as it travels: its vector, in bfloat16 or as codes with their scales, and its number, choices and weights."""

    def __init__(self, plan, content):
        hidden, tokens, top_k = plan.hidden, plan.tokens, plan.top_k
        self.plan = plan
        self.x = content.x[plan.rank]
        self.scales_at = hidden
        self.choices_at = aligned(hidden + hidden // GROUP * 4) if plan.is_quantised else 0
        self.weights_at = self.choices_at + top_k * 8
        self.token_at = self.weights_at + top_k * 4
        tail = plan.empty(tokens, aligned(self.token_at + 4)).zero_()
        self.parts = [tail] if plan.is_quantised else [bytes_of(self.x), tail]
        self.choices_of(tail).copy_(content.choices[plan.rank])
        self.weights_of(tail).copy_(content.weights[plan.rank])
        self.token_of(tail).copy_(torch.arange(tokens, device=plan.device).unsqueeze(1))
        self.wide = plan.empty(tokens, hidden // GROUP, GROUP, dtype=torch.float32)
        most = RANKS * tokens
        self.packed = [plan.empty(most, part.shape[1]) for part in self.parts]
        self.arrived = [plan.empty(most, part.shape[1]) for part in self.parts]

    def codes_of(self, rows):
        return rows[:, : self.plan.hidden]

    def scales_of(self, rows):
        return rows[:, self.scales_at : self.scales_at + self.plan.hidden // GROUP * 4].view(torch.float32)

    def choices_of(self, rows):
        return rows[:, self.choices_at : self.weights_at].view(torch.int64)

    def weights_of(self, rows):
        return rows[:, self.weights_at : self.token_at].view(torch.float32)

    def token_of(self, rows):
        return rows[:, self.token_at : self.token_at + 4].view(torch.int32)

    def quantise(self):
        if not self.plan.is_quantised:
            return
        rows = self.parts[0]
        groups = self.x.view(self.wide.shape)
        greatest = torch.linalg.vector_norm(groups, float("inf"), dim=2, dtype=torch.float32).clamp_(min=1e-4)
        # by a factor of float32, as codes of a product in bfloat16 would be others
        torch.mul(groups, (LARGEST_CODE / greatest).unsqueeze(2), out=self.wide)
        self.codes_of(rows).view(torch.float8_e4m3fn).copy_(self.wide.view(self.x.shape))
        torch.mul(greatest, 1 / LARGEST_CODE, out=self.scales_of(rows))

    def pack(self, order):
        for part, packed in zip(self.parts, self.packed):
            gather(packed, part, order)

    def exchange(self, sent, received):
        for packed, arrived in zip(self.packed, self.arrived):
            distributed.all_to_all_single(arrived[: sum(received)], packed[: sum(sent)], received, sent)

    def poison(self):
        for arrived in self.arrived:
            arrived.fill_(0xA5)

    def wrong(self, rows, source, token, content):
        """How many rows differ from tokens of ranks, which others have quantised as this one does."""
        expected = content.x[source, token]
        if not self.plan.is_quantised:
            good = (bytes_of(rows[0]) == bytes_of(expected)).all(1)
        else:
            scales = self.scales_of(rows[0])
            values = self.codes_of(rows[0]).view(torch.float8_e4m3fn).float().view(-1, *self.wide.shape[1:])
            exact = expected.float().view(values.shape)
            greatest = exact.abs().amax(2)
            bound = exact.abs() / 16 + (greatest / LARGEST_CODE / 512).unsqueeze(2)
            good = ((values * scales.unsqueeze(2) - exact).abs() <= bound * 1.0001).all(2).all(1)
            good &= ((scales * LARGEST_CODE - greatest.clamp(min=1e-4)).abs() <= greatest * 1e-6).all(1)
        tail = rows[-1]
        good &= (self.choices_of(tail) == content.choices[source, token]).all(1)
        good &= (self.weights_of(tail) == content.weights[source, token]).all(1)
        good &= self.token_of(tail).squeeze(1) == token
        return int((~good).sum())


class LowLatency:
    """Finds in each dispatch where tokens go; the host learns how many rows there are, and goes on meanwhile."""

    def __init__(self, plan, content):
        tokens, top_k, local = plan.tokens, plan.top_k, plan.local
        self.plan, self.content = plan, content
        self.message = Message(plan, content)
        pairs = RANKS * tokens * top_k
        self.choices = content.choices[plan.rank]
        self.weights = content.weights[plan.rank].to(torch.bfloat16).flatten()
        self.ones = torch.ones(tokens * top_k, dtype=torch.int64, device=plan.device)
        self.numbers = torch.arange(tokens * top_k, device=plan.device)
        self.token_of_pair = (self.numbers // top_k).view(tokens, top_k)
        self.token_of_place = torch.arange(tokens, device=plan.device).repeat(RANKS)
        self.goes = plan.empty(RANKS, tokens, dtype=torch.int64)
        self.order = torch.zeros(RANKS * tokens + 1, dtype=torch.int64, device=plan.device)
        # sent and received: tokens for each local expert, and rows, of each rank
        self.counts = plan.empty(2, RANKS, local + 1, dtype=torch.int64)
        self.told = HostCopy(self.counts)
        # of an expert: its number here, or one more than there are
        experts = torch.arange(plan.experts, device=plan.device) - plan.first
        self.local_of = torch.where((experts >= 0) & (experts < local), experts, local)
        self.rows = [plan.empty(pairs, part.shape[1]) for part in self.message.parts]
        self.places = plan.empty(tokens * top_k, dtype=torch.int64)
        self.bags = torch.arange(0, tokens * top_k, top_k, device=plan.device)
        self.y = plan.empty(pairs, plan.hidden, dtype=torch.bfloat16)
        self.back_sent = plan.empty(pairs, 2 * plan.hidden)
        self.back = plan.empty(tokens * top_k, plan.hidden, dtype=torch.bfloat16)

    def dispatch(self):
        plan, message, tokens = self.plan, self.message, self.plan.tokens
        owners = self.choices // plan.local
        self.goes.zero_().scatter_(0, owners.t(), 1)
        counts = self.counts[0].zero_()
        counts.view(-1).scatter_add_(0, (self.choices + owners).view(-1), self.ones)
        torch.sum(self.goes, 1, out=counts[:, plan.local])
        distributed.all_to_all_single(self.counts[1], counts)
        self.told.start()
        # rows for each rank, those of earlier tokens first; what does not go there comes behind all
        goes = self.goes.view(-1)
        self.order.scatter_(0, torch.where(goes > 0, goes.cumsum(0) - 1, RANKS * tokens), self.token_of_place)
        message.quantise()
        message.pack(self.order[:-1])
        # where results come back: by rank, token and expert
        keys = (owners * tokens + self.token_of_pair) * plan.experts + self.choices
        self.places.scatter_(0, torch.sort(keys.view(-1)).indices, self.numbers)
        sent, received = self.told.wait()
        message.exchange([count[-1] for count in sent], [count[-1] for count in received])
        self.pairs_sent = [sum(count[:-1]) for count in sent]
        self.pairs_received = [sum(count[:-1]) for count in received]
        # rows by expert, and for each rank the order in which its results go back
        arrived = sum(count[-1] for count in received)
        experts = torch.take(self.local_of, message.choices_of(message.arrived[-1][:arrived]))
        self.count = sum(self.pairs_received)
        row = torch.sort(experts.view(-1), stable=True).indices[: self.count] // plan.top_k
        for rows, part in zip(self.rows, message.arrived):
            gather(rows, part, row)
        self.back_order = torch.sort(row, stable=True).indices

    def combine(self):
        gather(self.back_sent, bytes_of(self.y), self.back_order)
        distributed.all_to_all_single(
            bytes_of(self.back), self.back_sent[: self.count], self.pairs_sent, self.pairs_received
        )
        self.out = torch.embedding_bag(self.back, self.places, self.bags, False, 0, False, self.weights)[0]

    def expected(self):
        """The source and the token of each row, and its expert."""
        experts = self.content.choices.view(-1)
        mine = ((experts >= self.plan.first) & (experts < self.plan.first + self.plan.local)).nonzero().squeeze(1)
        pair = mine[torch.sort(experts[mine], stable=True).indices]
        token = pair // self.plan.top_k
        return token // self.plan.tokens, token % self.plan.tokens, experts[pair]

    def poison(self):
        self.message.poison()
        self.back.view(torch.int16).fill_(-1)
        for rows in self.rows:
            rows.fill_(0xA5)

    def answer(self):
        source, token, expert = self.expected()
        self.y[: source.numel()] = self.content.x[source, token] * self.content.factors[expert].unsqueeze(1)

    def wrong(self):
        source, token, expert = self.expected()
        if source.numel() != self.count:
            return 1
        return self.message.wrong([rows[: self.count] for rows in self.rows], source, token, self.content)


class Normal:
    """Has where its own tokens go from the beginning; the counts of the others are exchanged in each dispatch."""

    def __init__(self, plan, content):
        self.plan, self.content = plan, content
        self.message = Message(plan, content)
        goes = content.goes[plan.rank]
        self.order = goes.t().nonzero()[:, 1].contiguous()
        self.counts = goes.sum(0)
        self.sent = self.counts.tolist()
        self.counts_received = torch.empty_like(self.counts)
        self.told = HostCopy(self.counts_received)
        # of each token the rows that come back, in the order of the ranks
        place = goes.t().reshape(-1).cumsum(0).view(RANKS, plan.tokens).t() - 1
        self.places = place[goes]
        of_tokens = goes.sum(1)
        self.bags = of_tokens.cumsum(0) - of_tokens
        self.y = plan.empty(RANKS * plan.tokens, plan.hidden, dtype=torch.bfloat16)
        self.back = plan.empty(sum(self.sent), plan.hidden, dtype=torch.bfloat16)

    def dispatch(self):
        distributed.all_to_all_single(self.counts_received, self.counts)
        self.told.start()
        self.message.quantise()
        self.message.pack(self.order)
        self.received = self.told.wait()
        self.message.exchange(self.sent, self.received)

    def combine(self):
        # they lie as they go back
        distributed.all_to_all_single(
            bytes_of(self.back), bytes_of(self.y[: sum(self.received)]), self.sent, self.received
        )
        self.out = torch.embedding_bag(self.back, self.places, self.bags)[0]

    def expected(self):
        source, token = self.content.goes[:, :, self.plan.rank].nonzero(as_tuple=True)
        return source, token

    def poison(self):
        self.message.poison()
        self.back.view(torch.int16).fill_(-1)

    def answer(self):
        source, token = self.expected()
        self.y[: source.numel()] = self.content.x[source, token] * self.content.factors[self.plan.rank]

    def wrong(self):
        source, token = self.expected()
        if source.numel() != sum(self.received):
            return 1
        return self.message.wrong([part[: source.numel()] for part in self.message.arrived], source, token, self.content)


def agreed(plan, value, operation):
    """What all ranks make of a number."""
    number = torch.tensor([value], dtype=torch.float64, device=plan.device)
    distributed.all_reduce(number, operation)
    return number.item()


def check(plan, content, calls):
    """One round with memory that was spoilt; ends the process if anything is wrong."""
    calls.answer()
    calls.poison()
    calls.dispatch()
    wrong = calls.wrong()
    calls.combine()
    sums = content.sums(plan)
    wrong += int((~((calls.out.float() - sums).abs() <= sums.abs() / 200).all(1)).sum())
    wrong = agreed(plan, wrong, distributed.ReduceOp.SUM)
    if wrong:
        sys.exit(f"torch: {wrong:.0f} rows or sums are wrong")


class Clock:
    """Microseconds of steps that follow each other, by the clock of the GPU."""

    def __init__(self, plan):
        self.plan = plan
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if plan.device.type == "cuda" else None

    def round(self, step, steps):
        # it waits for the other rank
        step()
        if self.events:
            self.events[0].record()
        begun = time.perf_counter_ns()
        for _ in range(steps):
            step()
        if not self.events:
            return (time.perf_counter_ns() - begun) / 1e3
        self.events[1].record()
        self.events[1].synchronize()
        return self.events[0].elapsed_time(self.events[1]) * 1e3

    def micros(self, step, nanos):
        """The median of rounds, on the slower rank."""
        end = time.perf_counter_ns() + nanos
        first = agreed(self.plan, self.round(step, 1), distributed.ReduceOp.MAX)
        steps = int(min(MOST_STEPS, max(1, ROUND_MICROS // max(1, first))))
        rounds = []
        is_over = 0
        while not is_over:
            rounds.append(self.round(step, steps) / steps)
            enough = len(rounds) == MOST_ROUNDS or (len(rounds) >= LEAST_ROUNDS and time.perf_counter_ns() > end)
            is_over = agreed(self.plan, int(enough and self.plan.rank == 0), distributed.ReduceOp.MAX)
        return agreed(self.plan, sorted(rounds)[len(rounds) // 2], distributed.ReduceOp.MAX)


def run(rank, meeting, device, mode, form, *numbers):
    tokens, hidden, top_k, experts, warmup, duration = map(int, numbers)
    if device == "cuda":
        torch.cuda.set_device(rank)
    backend = "nccl" if device == "cuda" else "gloo"
    distributed.init_process_group(backend, init_method=f"file://{meeting}", rank=rank, world_size=RANKS)
    plan = Plan(rank, device, mode, form, tokens, hidden, top_k, experts)
    content = Content(plan)
    calls = Normal(plan, content) if plan.is_normal else LowLatency(plan, content)
    check(plan, content, calls)

    def both():
        calls.dispatch()
        calls.combine()

    gc.disable()
    clock = Clock(plan)
    clock.micros(both, int(warmup * 1e6))
    each = int(duration * 1e6) // MEASUREMENTS
    micros = [clock.micros(step, each) for step in (calls.dispatch, calls.combine, both)]
    check(plan, content, calls)
    return {
        "vectors": content.vectors,
        "dispatch_us": micros[0],
        "combine_us": micros[1],
        "round_us": micros[2],
    }


def measure(*arguments):
    if arguments[0] == "cuda" and (not torch.cuda.is_available() or torch.cuda.device_count() < RANKS):
        not_available("PyTorch sees no two GPUs")
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        other = subprocess.Popen([sys.executable, __file__, "other", meeting, *arguments])
        try:
            figures = run(0, meeting, *arguments)
            if other.wait() != 0:
                sys.exit("torch: the other process has failed")
        finally:
            other.kill()
            other.wait()
    print(json.dumps(figures), flush=True)
    # the communicator would wait for the other process
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["other"]:
        run(1, *sys.argv[2:])
        os._exit(0)
    measure(*sys.argv[1:])
