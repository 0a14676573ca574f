"""ONNX policies: run by onnxruntime, all environments at once even where the exporter fixed the batch to 1."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.policy.batching import batched_or_looped
from isaaclab_mirror.policy.policy import Network, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def open_onnx(file: Path) -> Network:
    """The network in an ONNX file, batched where the graph allows."""
    model = read_model(file)
    single = OnnxNetwork(model, file)
    if single.free_batch:
        return single
    return batched_or_looped(lambda: OnnxNetwork(_with_free_batch(model), file), single)


def read_model(file: Path) -> Any:
    """The checked model, weights of external files inside; those outside the file's folder are refused."""
    try:
        import onnx
    except ImportError:
        raise InputError(
            "E135", file, "running it needs onnx and onnxruntime", "pip install 'isaaclab-mirror[policy]'"
        ) from None
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load(str(file), load_external_data=False)
    except (DecodeError, ValueError, OSError) as error:
        raise InputError("E130", file, f"no ONNX file: {' '.join(str(error).split())[:160]}") from None
    if not model.graph.node:
        raise InputError("E130", file, "no ONNX file, or one without a graph")
    external = [tensor for tensor in model.graph.initializer if tensor.data_location == tensor.EXTERNAL]
    for tensor in external:
        _confined({entry.key: entry.value for entry in tensor.external_data}.get("location", ""), file)
    if external:
        from onnx import external_data_helper

        try:
            external_data_helper.load_external_data_for_model(model, str(file.parent))
        except (OSError, ValueError, onnx.checker.ValidationError) as error:
            raise InputError(
                "E130",
                file,
                f"its weights stand in a file of their own that cannot be read: {' '.join(str(error).split())[:160]}",
                "copy policy.onnx.data beside policy.onnx",
            ) from None
    return model


def _confined(location: str, file: Path) -> None:
    parts = (*PurePosixPath(location).parts, *PureWindowsPath(location).parts)
    absolute = PurePosixPath(location).is_absolute() or PureWindowsPath(location).is_absolute()
    inside = (file.parent / location).resolve().is_relative_to(file.parent.resolve())
    if not location or absolute or ".." in parts or not inside:
        raise InputError(
            "E132", file, f"its weights are to be read from {location!r}, outside the file's folder", "nothing was read"
        )


def _with_free_batch(model: Any) -> Any:
    """A copy whose observations, state and actions have any number of environments."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in (*copy.graph.input, *copy.graph.output):
        dims = value.type.tensor_type.shape.dim
        if len(dims) in (2, 3):
            dims[len(dims) - 2].dim_param = "environments"
    del copy.graph.value_info[:]
    return copy


class OnnxNetwork:
    """One session: `obs` → `actions`, and `h_in`, `c_in` → `h_out`, `c_out` where it is recurrent."""

    def __init__(self, model: Any, file: Path) -> None:
        """Refuses graphs that take or give something else."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 onnxruntime's own classes share no other base
            raise InputError("E130", file, f"onnxruntime refuses it: {' '.join(str(error).split())[:200]}") from None
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        carried = [value for value in inputs if len(value.shape) == 3]
        plain = [value for value in inputs if len(value.shape) != 3]
        if len(plain) != 1 or len(plain[0].shape) != 2:
            listing = ", ".join(f"{value.name} {value.shape}" for value in inputs)
            raise InputError(
                "E131", file, f"its inputs are {listing}: one array of observations and its own state are expected"
            )
        self._input = plain[0].name
        self.free_batch = not isinstance(plain[0].shape[0], int)
        self.input_size = _size(plain[0].shape[1])
        self._pairs = [(value.name, _output_of(value.name, outputs, file)) for value in carried]
        actions = [o for o in outputs if o.name not in {out for _, out in self._pairs}]
        chosen = next((o for o in actions if o.name == "actions"), actions[0] if actions else None)
        if chosen is None:
            raise InputError("E131", file, "it has no output for the actions")
        self._outputs = [chosen.name, *(out for _, out in self._pairs)]
        self.action_size = _size(chosen.shape[-1])
        self.state_shapes = tuple((int(value.shape[0]), int(value.shape[2])) for value in carried)
        self._file = file

    def __call__(self, observations: Array, state: State) -> tuple[Array, State]:
        """See `Network`."""
        fed = {self._input: observations}
        fed.update({name: part for (name, _), part in zip(self._pairs, state, strict=True)})
        try:
            results: list[Any] = list(self._session.run(self._outputs, fed))
        except Exception as error:  # noqa: BLE001 onnxruntime's own classes share no other base
            raise InputError("E131", self._file, f"it does not run: {' '.join(str(error).split())[:200]}") from None
        return results[0], tuple(results[1:])


def _size(dim: Any) -> int | None:
    return dim if isinstance(dim, int) else None


def _output_of(name: str, outputs: Any, file: Path) -> str:
    """`h_in` → `h_out`."""
    wanted = name.replace("_in", "_out") if "_in" in name else f"{name}_out"
    if wanted not in {output.name for output in outputs}:
        raise InputError("E131", file, f"its input {name} has no output {wanted} that carries it on")
    return wanted
