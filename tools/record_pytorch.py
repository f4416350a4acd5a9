#!/usr/bin/env python3
"""Records what the installed PyTorch does, in the files that `labrig conform KIND FILE` compares the core with.

    python3 record_pytorch.py --out recordings                    every kind
    python3 record_pytorch.py --out recordings operators errors   some kinds

All kinds but operators and optimizers need a CUDA card. Every recording is drawn from --seed: another seed gives other
shapes and values. The form of each file is described in docs/conformance.md.
"""

import argparse
import gc
import gzip
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

CARD = "cuda:0"


# --- operators ---------------------------------------------------------------------------------------------------------


def described(tensor):
    """A tensor as the files hold it."""
    return {"shape": list(tensor.shape), "data": tensor.detach().double().flatten().tolist()}


class Operators:
    """Inputs are float32 values; outputs and gradients are computed in float64."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.random = random.Random(seed)
        self.entries = []

    def values(self, *shape, low=None):
        """Normally distributed; with `low` the absolute values, raised by it."""
        x = torch.randn(shape, generator=self.generator, dtype=torch.float32)
        return (x if low is None else x.abs() + low).double()

    def whole(self, below, *shape):
        return torch.randint(0, below, shape, generator=self.generator)

    def add(self, op, call, *inputs, **attrs):
        inputs = [x.float().double() if x.is_floating_point() else x.clone() for x in inputs]
        floats = [x for x in inputs if x.is_floating_point()]
        for x in floats:
            x.requires_grad_()
        output = call(*inputs)
        gradient = self.values(*output.shape)
        gradients = torch.autograd.grad(output, floats, gradient, allow_unused=True)
        self.entries.append(
            {
                "op": op,
                "attrs": attrs,
                "inputs": [described(x) for x in inputs],
                "int": [not x.is_floating_point() for x in inputs],
                "output": described(output),
                "grad_output": described(gradient),
                "grad_inputs": [None if g is None else described(g) for g in gradients],
            }
        )

    def size(self):
        return self.random.randint(1, 6)

    def elementwise(self):
        m, n, k = self.size() + 1, self.size() + 1, self.size()
        for a, b in [((m, n), (m, n)), ((m, 1), (1, n)), ((k, m, n), (n,)), ((), (m, n)), ((k, 1, m), (n, 1))]:
            self.add("add", torch.add, self.values(*a), self.values(*b))
            self.add("sub", torch.sub, self.values(*a), self.values(*b))
            self.add("mul", torch.mul, self.values(*a), self.values(*b))
            self.add("div", torch.div, self.values(*a), self.values(*b, low=0.5))
        for op, call in [
            ("relu", torch.relu),
            ("gelu", F.gelu),
            ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
            ("exp", torch.exp),
            ("tanh", torch.tanh),
            ("sigmoid", torch.sigmoid),
            ("neg", torch.neg),
        ]:
            self.add(op, call, self.values(m, n))
        for op, call in [("log", torch.log), ("sqrt", torch.sqrt)]:
            self.add(op, call, self.values(m, n, low=0.1))
        self.add("clamp", lambda x: x.clamp(-0.5, 0.75), self.values(m, n), min=-0.5, max=0.75)
        mask = self.whole(2, m, n)
        self.add("where", lambda c, a, b: torch.where(c.bool(), a, b), mask, self.values(m, n), self.values(n))
        self.add("masked_fill", lambda x, c: x.masked_fill(c.bool(), 2.5), self.values(m, n), mask, value=2.5)

    def products(self):
        b, m, n, k = self.size() + 1, self.size(), self.size() + 1, self.size() + 1
        for a, c in [((m, k), (k, n)), ((b, m, k), (b, k, n)), ((b, m, k), (k, n)), ((k,), (k, n)), ((m, k), (k,))]:
            self.add("matmul", torch.matmul, self.values(*a), self.values(*c))
        self.add(
            "matmul",
            lambda x, y: torch.matmul(x.t().contiguous().t(), y),
            self.values(m, k),
            self.values(k, n),
            lhs_transposed_view=True,
        )
        self.add("bmm", torch.bmm, self.values(b, m, k), self.values(b, k, n))
        self.add("linear", F.linear, self.values(m, k), self.values(n, k), self.values(n))
        self.add("linear", F.linear, self.values(b, m, k), self.values(n, k))
        for stride, padding, bias in [(1, 1, True), (2, 0, True), ([2, 1], [0, 2], False)]:
            inputs = [self.values(2, 3, 6, 5), self.values(4, 3, 3, 2)] + ([self.values(4)] if bias else [])
            self.add(
                "conv2d",
                lambda *x, s=stride, p=padding: F.conv2d(*x, stride=s, padding=p),
                *inputs,
                stride=stride,
                padding=padding,
            )

    def reductions(self):
        shape = (self.size() + 1, self.size() + 1, self.size() + 1)
        for dim in (0, 1, -1):
            self.add("sum", lambda x, d=dim: x.sum(d), self.values(*shape), dim=dim)
            self.add("mean", lambda x, d=dim: x.mean(d, keepdim=True), self.values(*shape), dim=dim, keepdim=True)
            self.add("softmax", lambda x, d=dim: x.softmax(d), self.values(*shape), dim=dim)
            self.add("log_softmax", lambda x, d=dim: x.log_softmax(d), self.values(*shape), dim=dim)
            self.add("max", lambda x, d=dim: x.max(d).values, self.values(*shape), dim=dim)
        self.add("sum", lambda x: x.sum((0, 2)), self.values(*shape), dim=[0, 2])
        self.add("sum_all", torch.sum, self.values(*shape))
        self.add("mean", torch.mean, self.values(*shape))
        self.add("max", torch.max, self.values(*shape))
        self.add("norm", torch.norm, self.values(*shape))

    def rows(self):
        n, c = self.size() + 2, self.size() + 1
        for eps in (1e-5, 1e-3):
            self.add(
                "layer_norm",
                lambda x, w, b, e=eps: F.layer_norm(x, w.shape, w, b, e),
                self.values(n, c),
                self.values(c),
                self.values(c),
                eps=eps,
            )
        for shape in [(n, c), (n, c, 4, 3)]:
            self.add(
                "batch_norm",
                lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, eps=1e-5),
                self.values(*shape),
                self.values(c),
                self.values(c),
                training=True,
                eps=1e-5,
            )

    def losses(self):
        n, c = self.size() + 1, self.size() + 1
        for reduction in ("mean", "sum", "none"):
            self.add(
                "cross_entropy",
                lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r),
                self.values(n, c),
                self.whole(c, n),
                reduction=reduction,
            )
            for op, call, target in [
                ("mse_loss", F.mse_loss, self.values(n, c)),
                ("bce_with_logits", F.binary_cross_entropy_with_logits, self.values(n, c).sigmoid().float().double()),
            ]:
                self.add(
                    op, lambda x, y, f=call, r=reduction: f(x, y, reduction=r), self.values(n, c), target, reduction=reduction
                )
        self.add(
            "cross_entropy",
            lambda x, t: F.cross_entropy(x, t, ignore_index=1),
            self.values(n, c),
            torch.cat([torch.zeros(1, dtype=torch.long), self.whole(c, n - 1)]),
            ignore_index=1,
        )
        self.add("cross_entropy", F.cross_entropy, self.values(n, c, 3), self.whole(c, n, 3))

    def selections(self):
        n, c = self.size() + 2, self.size()
        ids = self.whole(n, 4)
        for dim in (0, 1):
            self.add(
                "index_select",
                lambda x, i, d=dim: x.index_select(d, i),
                self.values(*((n, c) if dim == 0 else (c, n))),
                ids,
                dim=dim,
            )
        self.add("index", lambda x, i: x[i], self.values(n, c), ids)
        self.add("embedding", lambda w, i: F.embedding(i, w), self.values(n, c), self.whole(n, 2, 3))
        self.add("cat", lambda *x: torch.cat(x, 1), self.values(n, c), self.values(n, 2), dim=1)
        self.add("stack", lambda *x: torch.stack(x, -1), self.values(n, c), self.values(n, c), dim=-1)

    def clipping(self):
        for max_norm in (1.0, 1000.0):
            gradient = self.values(10) * 4
            parameter = torch.zeros(10, dtype=torch.float64, requires_grad=True)
            parameter.grad = gradient.clone()
            torch.nn.utils.clip_grad_norm_([parameter], max_norm)
            self.entries.append(
                {
                    "op": "clip_grad_norm",
                    "attrs": {"max_norm": max_norm},
                    "inputs": [described(gradient)],
                    "int": [False],
                    "output": described(parameter.grad),
                    "grad_output": None,
                    "grad_inputs": None,
                }
            )


def operators(seed):
    recording = Operators(seed)
    for part in ("elementwise", "products", "reductions", "rows", "losses", "selections", "clipping"):
        getattr(recording, part)()
    return recording.entries


# --- optimizers --------------------------------------------------------------------------------------------------------


def optimizers(seed):
    adam = {"lr": 0.01, "betas": [0.9, 0.999], "eps": 1e-8}
    configs = {
        "sgd": {"optimizer": "SGD", "lr": 0.05},
        "sgd_momentum": {"optimizer": "SGD", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.01},
        "sgd_nesterov": {"optimizer": "SGD", "lr": 0.05, "momentum": 0.9, "nesterov": True},
        "sgd_dampening": {"optimizer": "SGD", "lr": 0.05, "momentum": 0.8, "dampening": 0.3},
        "adam": {"optimizer": "Adam", **adam},
        "adam_wd": {"optimizer": "Adam", **adam, "weight_decay": 0.1},
        "adamw": {"optimizer": "AdamW", **adam, "weight_decay": 0.1},
    }
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(6, generator=generator, dtype=torch.float64)
    gradients = [torch.randn(6, generator=generator, dtype=torch.float64) * 10 ** (i % 4 - 2) for i in range(25)]
    result = {}
    for name, config in configs.items():
        parameter = start.clone().requires_grad_()
        options = {key: value for key, value in config.items() if key != "optimizer"}
        optimizer = getattr(torch.optim, config["optimizer"])([parameter], **options)
        rows = [parameter.tolist()]
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
            rows.append(parameter.tolist())
        result[name] = {"config": config, "grads": [g.tolist() for g in gradients], "params": rows}
    return result


# --- mixed precision ---------------------------------------------------------------------------------------------------


def grad_scaler(seed):
    chance = random.Random(seed)
    runs = []
    for init, growth, backoff, interval in [(65536.0, 2.0, 0.5, 5), (65536.0, 2.0, 0.5, 2), (1.0, 2.0, 0.5, 3), (65536.0, 4.0, 0.25, 5)]:
        scaler = torch.amp.GradScaler(
            "cuda", init_scale=init, growth_factor=growth, backoff_factor=backoff, growth_interval=interval
        )
        parameter = torch.ones(4, device=CARD, requires_grad=True)
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        rows = []
        for _ in range(60):
            bad = chance.choice([None, None, None, "inf", "nan"])
            explicit = chance.random() < 0.4
            before = parameter.detach().clone()
            optimizer.zero_grad()
            scaler.scale(parameter.sum()).backward()
            if bad:
                parameter.grad[0] = float(bad)
            if explicit:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            rows.append(
                {
                    "bad": bad,
                    "explicit_unscale": explicit,
                    "skipped": bool((before == parameter.detach()).all()),
                    "scale_after": scaler.get_scale(),
                    "growth_tracker": scaler._get_growth_tracker(),
                    "param": parameter.tolist(),
                }
            )
        runs.append({"init": init, "growth": growth, "backoff": backoff, "interval": interval, "rows": rows})
    return runs


def autocast(seed):
    del seed  # nothing here depends on values
    ids = torch.zeros(4, dtype=torch.long, device=CARD)
    calls = {
        "matmul": torch.matmul,
        "mm": torch.mm,
        "linear": F.linear,
        "bmm": lambda a, b: torch.bmm(a[None], b[None]),
        "addmm": lambda a, b: torch.addmm(a, a, b),
        "conv2d": lambda a, b: F.conv2d(a[None, None], b[None, None]),
        "add": torch.add,
        "mul": torch.mul,
        "div": torch.div,
        "cat": lambda a, b: torch.cat([a, b]),
        "stack": lambda a, b: torch.stack([a, b]),
        "exp": lambda a, b: a.exp(),
        "log": lambda a, b: a.log(),
        "softmax": lambda a, b: a.softmax(-1),
        "log_softmax": lambda a, b: a.log_softmax(-1),
        "sum": lambda a, b: a.sum(),
        "mean": lambda a, b: a.mean(),
        "norm": lambda a, b: a.norm(),
        "cumsum": lambda a, b: a.cumsum(-1),
        "pow": lambda a, b: a.pow(2),
        "relu": lambda a, b: a.relu(),
        "gelu": lambda a, b: F.gelu(a),
        "tanh": lambda a, b: a.tanh(),
        "sigmoid": lambda a, b: a.sigmoid(),
        "layer_norm": lambda a, b: F.layer_norm(a, (4,)),
        "batch_norm": lambda a, b: F.batch_norm(a, None, None, training=True),
        "mse_loss": F.mse_loss,
        "cross_entropy": lambda a, b: F.cross_entropy(a, ids),
        "bce_with_logits": F.binary_cross_entropy_with_logits,
        "bce": lambda a, b: F.binary_cross_entropy(a.sigmoid(), b.sigmoid()),
        "dot": lambda a, b: torch.dot(a[0], b[0]),
        "addcmul": lambda a, b: torch.addcmul(a, a, b),
        "index_select": lambda a, b: a.index_select(0, ids),
        "max": lambda a, b: a.max(),
        "sqrt": lambda a, b: a.sqrt(),
        "rsqrt": lambda a, b: a.rsqrt(),
        "reciprocal": lambda a, b: a.reciprocal(),
        "clamp": lambda a, b: a.clamp(0, 1),
        "where": lambda a, b: torch.where(a > 0, a, b),
    }
    rows = []
    for region, (op, call) in itertools.product((torch.float16, torch.bfloat16), calls.items()):
        for first, second in itertools.product((torch.float32, region), repeat=2):
            a = torch.rand(4, 4, device=CARD).to(first)
            b = torch.rand(4, 4, device=CARD).to(second)
            try:
                with torch.autocast("cuda", dtype=region):
                    result = str(call(a, b).dtype)
            except RuntimeError as error:
                result = "error: " + str(error).split("\n")[0]
            rows.append([op, str(region), str(first), str(second), result])
    return rows


def amp_curves(seed):
    """Four classes of random points, eight batches again and again, Adam."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    true = torch.randn(16, 4, generator=generator)
    for _ in range(8):
        x = torch.randn(64, 16, generator=generator)
        batches.append((x.to(CARD), (x @ true).argmax(1).to(CARD)))
    curves = []
    for kind, scaled, factor in [
        ("fp32", True, 1.0), ("fp16", True, 1.0), ("fp16", False, 1.0), ("half", True, 1.0),
        ("fp32", True, 1e-6), ("fp16", True, 1e-6), ("fp16", False, 1e-6),
    ]:
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).to(CARD)
        if kind == "half":
            model.half()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        scaler = torch.amp.GradScaler("cuda", enabled=scaled and kind == "fp16")
        losses = []
        for step in range(200):
            x, y = batches[step % len(batches)]
            optimizer.zero_grad()
            with torch.autocast("cuda", enabled=kind == "fp16"):
                loss = F.cross_entropy(model(x.half() if kind == "half" else x).float(), y) * factor
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        curves.append({"kind": kind, "scaler": scaled, "loss_mul": factor, "loss": losses})
    return curves


# --- errors ------------------------------------------------------------------------------------------------------------


def said(call):
    try:
        call()
        return "no error"
    except Exception as error:  # whatever class it is, it is recorded
        return type(error).__name__ + ": " + str(error)


# Run by a process that sees no card.
WITHOUT_CARD = """
import sys, torch
CALLS = {
    "cpu_only_cuda_call": lambda: torch.zeros(1, device="cuda"),
    "cpu_only_device": lambda: torch.zeros(1).to("cuda"),
    "cpu_only_load": lambda: torch.load(sys.argv[2]),
}
try:
    CALLS[sys.argv[1]]()
    print("no error")
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
"""


def without_card(key, file):
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="")
    command = [sys.executable, "-c", WITHOUT_CARD, key, file]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def scaler_mistakes():
    def training(dtype=torch.float32):
        parameter = torch.ones(4, device=CARD, dtype=dtype, requires_grad=True)
        return parameter, torch.optim.SGD([parameter], lr=0.1), torch.amp.GradScaler("cuda")

    def unscale_twice():
        parameter, optimizer, scaler = training()
        scaler.scale(parameter.sum()).backward()
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)

    def step_twice():
        parameter, optimizer, scaler = training()
        scaler.scale(parameter.sum()).backward()
        scaler.step(optimizer)
        scaler.step(optimizer)

    def step_nograd():
        parameter, optimizer, scaler = training()
        scaler.scale(parameter.sum())
        scaler.step(optimizer)

    def half_grads():
        parameter, optimizer, scaler = training(torch.float16)
        scaler.scale(parameter.sum()).backward()
        scaler.unscale_(optimizer)

    return {
        "scaler_unscale_twice": unscale_twice,
        "scaler_step_twice": step_twice,
        "scaler_step_nograd": step_nograd,
        "scaler_half_grads": half_grads,
        "scaler_update_nostep": lambda: training()[2].update(),
        "scaler_step_noscale": lambda: training()[2].step(training()[1]),
        "scaler_load_empty": lambda: training()[2].load_state_dict({}),
    }


def gradient_mistakes():
    def leaf():
        return torch.ones(2, requires_grad=True)

    def backward_twice():
        loss = leaf().exp().sum()
        loss.backward()
        loss.backward()

    def inplace_saved():
        y = leaf().exp()
        y.add_(1)
        y.sum().backward()

    return {
        "leaf_inplace": lambda: leaf().add_(1),
        "int_grad": lambda: torch.zeros(2, dtype=torch.long).requires_grad_(),
        "backward_twice": backward_twice,
        "backward_nonscalar": lambda: leaf().exp().backward(),
        "backward_nograd": lambda: torch.ones(2).sum().backward(),
        "inplace_saved": inplace_saved,
        "numpy_grad": lambda: leaf().numpy(),
        "optim_nonleaf": lambda: torch.optim.SGD([leaf().exp()], lr=0.1),
    }


def placement_mistakes():
    card, host = torch.ones(4, 4, device=CARD), torch.ones(4, 4)
    bias, ids, card_ids = torch.ones(4), torch.zeros(4, dtype=torch.long), torch.zeros(4, dtype=torch.long, device=CARD)
    half = card.half()
    return {
        "add_mismatch": lambda: card + host,
        "mm_mismatch": lambda: card.mm(host),
        "linear_mismatch": lambda: F.linear(host, card, bias.to(CARD)),
        "linear_mismatch_rev": lambda: F.linear(card, host, bias),
        "ce_mismatch": lambda: F.cross_entropy(card, ids),
        "ce_weight_mismatch": lambda: F.cross_entropy(card, card_ids, bias),
        "conv_mismatch": lambda: F.conv2d(torch.ones(1, 2, 4, 4, device=CARD), torch.ones(2, 2, 3, 3)),
        "embedding_mismatch": lambda: F.embedding(ids, card),
        "index_cpu_on_cuda_ok": lambda: card[ids],
        "index_cuda_on_cpu": lambda: host[card_ids],
        "index_select_mismatch": lambda: card.index_select(0, ids),
        "float_index": lambda: host[torch.ones(2)],
        "float_index_cuda": lambda: card[torch.ones(2, device=CARD)],
        "embedding_float": lambda: F.embedding(torch.ones(4, device=CARD), card),
        "mm_dtype": lambda: card.mm(half),
        "linear_dtype": lambda: F.linear(half, card, bias.to(CARD)),
        "mm_shape": lambda: card.mm(torch.ones(3, 4, device=CARD)),
        "add_shape": lambda: card + torch.ones(4, 3, device=CARD),
        "copy_shape": lambda: torch.ones(4, device=CARD).copy_(torch.ones(5)),
        "numpy_cuda": lambda: card.numpy(),
        "pin_cuda": lambda: card.pin_memory(),
        "invalid_ordinal": lambda: torch.zeros(1, device="cuda:99"),
        "bad_device": lambda: torch.device("gpu"),
    }


def shape_mistakes():
    linear = torch.nn.Linear(2, 2)
    state = linear.state_dict()
    return {
        "result_type_cast": lambda: torch.zeros(2, dtype=torch.long).add_(torch.ones(2)),
        "view_stride": lambda: torch.ones(4, 3).t().view(12),
        "reshape_numel": lambda: torch.ones(2, 3).reshape(4, 2),
        "expand_size": lambda: torch.ones(2, 3).expand(2, 4),
        "stack_shape": lambda: torch.stack([torch.ones(3), torch.ones(2)]),
        "index_range": lambda: torch.ones(2, 3)[torch.tensor([5])],
        "embedding_range": lambda: F.embedding(torch.tensor([5]), torch.ones(2, 3)),
        "item_many": lambda: torch.ones(16).item(),
        "bool_many": lambda: bool(torch.ones(2)),
        "optim_empty": lambda: torch.optim.SGD([], lr=0.1),
        "bf16_numpy": lambda: torch.ones(2, dtype=torch.bfloat16).numpy(),
        "state_dict_missing": lambda: linear.load_state_dict({"weight": state["weight"]}),
        "state_dict_shape": lambda: linear.load_state_dict({**state, "weight": torch.ones(3, 2)}),
        "state_dict_all": lambda: torch.nn.Linear(3, 2).load_state_dict(
            {"weight": torch.ones(2, 4), "extra": torch.ones(1)}
        ),
    }


def errors(seed):
    del seed
    mistakes = {**placement_mistakes(), **shape_mistakes(), **gradient_mistakes(), **scaler_mistakes()}
    texts = {key: said(call) for key, call in mistakes.items()}
    torch.cuda.set_per_process_memory_fraction(0.005, 0)
    texts["oom"] = said(lambda: torch.empty(4 << 30, dtype=torch.uint8, device=CARD))
    torch.cuda.set_per_process_memory_fraction(1.0, 0)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "saved.pt")
        torch.save(torch.ones(1, device=CARD), file)
        for key in ("cpu_only_cuda_call", "cpu_only_device", "cpu_only_load"):
            texts[key] = without_card(key, file)
    return texts


# --- memory ------------------------------------------------------------------------------------------------------------


def training_run(width, depth, batch, optimizer, precision):
    gc.collect()
    base = torch.cuda.memory_allocated()
    layers = itertools.chain.from_iterable((torch.nn.Linear(width, width), torch.nn.ReLU()) for _ in range(depth))
    model = torch.nn.Sequential(*layers, torch.nn.Linear(width, 10)).to(CARD)
    x, y = torch.randn(batch, width, device=CARD), torch.randint(0, 10, (batch,), device=CARD)
    step = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.01),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
        "adam_fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    }[optimizer](model.parameters())
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16")
    dtype = torch.bfloat16 if precision == "bf16" else torch.float16
    steps = []
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        step.zero_grad()
        with torch.autocast("cuda", dtype=dtype, enabled=precision != "fp32"):
            loss = F.cross_entropy(model(x), y)
        figures = [torch.cuda.memory_allocated()]
        scaler.scale(loss).backward()
        figures.append(torch.cuda.memory_allocated())
        scaler.step(step)
        scaler.update()
        figures.append(torch.cuda.memory_allocated())
        figures += [torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()]
        steps.append(figures)
        del loss
    row = {"width": width, "depth": depth, "batch": batch, "optimizer": optimizer, "precision": precision}
    return {**row, "params": sum(p.numel() for p in model.parameters()), "base": base, "steps": steps}


def training_peaks(seed):
    warm = torch.nn.Linear(64, 64).to(CARD)  # so that the workspace of cuBLAS is there before the first run
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        with torch.autocast("cuda", dtype=dtype, enabled=dtype != torch.float32):
            warm(torch.ones(64, 64, device=CARD)).sum().backward()
    del warm
    runs = list(
        itertools.product((256, 1024), (2, 6), (32, 256, 2048), ("sgd", "adam", "adam_fused"), ("fp32", "fp16", "bf16"))
    )
    random.Random(seed).shuffle(runs)
    rows = []
    for run in runs[:40]:
        rows.append(training_run(*run))
        torch.cuda.empty_cache()
    return rows


STATISTICS = [
    "allocated_bytes.all.current",
    "allocated_bytes.all.peak",
    "reserved_bytes.all.current",
    "reserved_bytes.all.peak",
    "active_bytes.all.current",
    "inactive_split_bytes.all.current",
    "requested_bytes.all.current",
    "allocation.all.current",
    "segment.all.current",
    "inactive_split.all.current",
    "num_alloc_retries",
    "num_ooms",
    "num_device_alloc",
    "num_device_free",
]


def statistics():
    all_of_them = torch.cuda.memory_stats()
    return [all_of_them.get(key, 0) for key in STATISTICS]


def drawn_bytes(chance, kind):
    kind = chance.choice(["small", "large", "pow2", "edge"]) if kind == "mixed" else kind
    if kind == "small":
        return chance.randint(1, 1 << 20)
    if kind == "large":
        return chance.randint(1 << 20, 64 << 20)
    if kind == "pow2":
        return 1 << chance.randint(6, 26)
    edge = chance.choice([512, 1 << 20, 2 << 20, 10 << 20, 20 << 20])
    return max(1, edge + chance.randint(-2, 2))


class Trace:
    """One random program of allocations, with the statistics after each step and the allocator's own log."""

    def __init__(self, seed, kind, streams, cap_bytes):
        self.chance = random.Random(seed)
        self.kind = kind
        self.streams = [torch.cuda.default_stream()] + [torch.cuda.Stream() for _ in range(streams - 1)]
        self.live, self.ops, self.stats = {}, [], []
        self.cap_bytes = cap_bytes

    def allocate(self, number):
        stream = self.chance.randrange(len(self.streams))
        count = drawn_bytes(self.chance, self.kind)
        try:
            with torch.cuda.stream(self.streams[stream]):
                self.live[number] = torch.empty(count, dtype=torch.uint8, device=CARD)
            return ["alloc", number, count, stream]
        except torch.OutOfMemoryError:
            return ["oom", number, count, stream]

    def step(self, number):
        dice = self.chance.random()
        if dice < 0.02:
            torch.cuda.empty_cache()
            return ["empty_cache"]
        if dice < 0.04:
            torch.cuda.reset_peak_memory_stats()
            return ["reset_peak"]
        if dice < 0.5 and self.live:
            gone = self.chance.choice(sorted(self.live))
            del self.live[gone]
            return ["free", gone]
        return self.allocate(number)

    def run(self, length):
        total = torch.cuda.get_device_properties(0).total_memory
        fraction = 1.0 if self.cap_bytes is None else (self.cap_bytes + 0.5) / total
        torch.cuda.set_per_process_memory_fraction(fraction, 0)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.memory._record_memory_history("all", context=None, max_entries=1 << 20)
        base, seen = statistics(), len(self.events())
        for number in range(length):
            self.ops.append(self.step(number))
            self.stats.append(statistics())
        log = [self.logged(event) for event in self.events()[seen:]]
        torch.cuda.memory._record_memory_history(None)
        self.live.clear()
        return {"cap_bytes": self.cap_bytes, "base": base, "ops": self.ops, "stats": self.stats, "log": log}

    @staticmethod
    def events():
        return torch.cuda.memory._snapshot()["device_traces"][0]

    @staticmethod
    def logged(event):
        return [event["action"], event.get("addr", event.get("device_free", 0)), event["size"], event["stream"]]


def alloc_traces(seed):
    kinds = ["small", "large", "pow2", "edge", "mixed", "mixed"]
    traces = []
    for i in range(30):
        kind, streams = kinds[i % len(kinds)], 3 if i % 5 == 4 else 1
        cap = 1 << 30 if i % 7 == 6 else None
        trace = Trace(seed * 1000 + i, kind, streams, cap).run(60 if i % 3 else 220)
        traces.append({"seed": seed * 1000 + i, "kind": kind, "streams": streams, **trace})
    return {"keys": STATISTICS, "torch": torch.__version__, "traces": traces}


# --- the program -------------------------------------------------------------------------------------------------------

# alloc_traces first: it wants a process that has allocated nothing.
KINDS = {
    "alloc_traces": alloc_traces,
    "operators": operators,
    "optimizers": optimizers,
    "grad_scaler": grad_scaler,
    "autocast": autocast,
    "errors": errors,
    "training_peaks": training_peaks,
    "amp_curves": amp_curves,
}
WITHOUT_A_CARD = ("operators", "optimizers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="of " + ", ".join(KINDS) + "; all")
    parser.add_argument("--out", default=".", help="folder for the files; made if need be")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    wanted = arguments.kinds or list(KINDS)
    for kind in wanted:
        if kind not in KINDS:
            parser.error(f"'{kind}' is no kind of recording; the kinds are " + ", ".join(KINDS))
    has_card = torch.cuda.is_available()
    os.makedirs(arguments.out, exist_ok=True)
    print(f"PyTorch {torch.__version__}, " + (torch.cuda.get_device_name(0) if has_card else "no CUDA card"))
    for kind in (kind for kind in KINDS if kind in wanted):
        if not has_card and kind not in WITHOUT_A_CARD:
            print(f"{kind}: left out, it needs a CUDA card")
            continue
        path = os.path.join(arguments.out, kind + ".json.gz")
        with gzip.open(path, "wt") as file:
            json.dump(KINDS[kind](arguments.seed), file)
        print(f"{kind}: {path}")


if __name__ == "__main__":
    main()
