"""Policy files made on the spot: networks of known weights in every library's form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def torch() -> Any:
    """PyTorch, on one thread."""
    module = pytest.importorskip("torch", reason="needs the extra `torch`")
    module.set_num_threads(1)
    module.manual_seed(3)
    return module


@pytest.fixture
def mlp(torch: Any) -> Any:
    """6 → 16 → 8 → 3 with elu."""
    nn = torch.nn
    return nn.Sequential(nn.Linear(6, 16), nn.ELU(), nn.Linear(16, 8), nn.ELU(), nn.Linear(8, 3))


@pytest.fixture
def observations() -> np.ndarray:
    """(5, 6)"""
    return np.random.default_rng(4).standard_normal((5, 6)).astype(np.float32)


@pytest.fixture
def onnx_file(tmp_path: Path) -> Callable[..., Path]:
    """A linear policy 2 → 1 as ONNX: weight, further inputs and external weights on request."""
    onnx = pytest.importorskip("onnx", reason="needs the extra `policy`")
    from onnx import TensorProto, helper, numpy_helper

    def make(
        weight: tuple[float, float] = (1.0, 2.0),
        *,
        location: str = "",
        inputs: tuple[str, ...] = ("obs",),
        batch: Any = 1,
    ) -> Path:
        matrix = numpy_helper.from_array(np.array([[weight[0]], [weight[1]]], np.float32), "w")
        if location:
            matrix.ClearField("raw_data")
            matrix.data_location = TensorProto.EXTERNAL
            matrix.external_data.add(key="location", value=location)
        nodes = [helper.make_node("MatMul", ["obs", "w"], ["actions"])]
        graph = helper.make_graph(
            nodes,
            "policy",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, 2]) for name in inputs],
            [helper.make_tensor_value_info("actions", TensorProto.FLOAT, [batch, 1])],
            [matrix],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        file = tmp_path / "policy.onnx"
        file.write_bytes(model.SerializeToString())
        assert onnx.load(str(file), load_external_data=False).graph.name == "policy"
        return file

    return make
