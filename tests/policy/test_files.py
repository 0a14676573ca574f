"""ONNX and TorchScript: batches, state, and files that are refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.diagnostics import InputError
from isaaclab_mirror.policy.loading import load_policy
from isaaclab_mirror.policy.policy import check_sizes

FOLDERS = {
    "cartpole-isaaclab3-here/exported/policy.onnx": (4, 1),
    "go2-flat-isaaclab3-here/exported/policy.onnx": (48, 12),
    "g1-29dof-velocity-unitree_rl_lab/policy.onnx": (480, 29),
    "h1-velocity-flat-isaaclab/h1_policy.pt": (69, 19),
    "go2-velocity-robot_lab/policy.pt": (45, 12),
    "g1-12dof-lstm-unitree_rl_gym/motion.pt": (47, 12),
}


def refusal(file: Path, **kwargs: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_policy(file, **kwargs)
    return str(caught.value)


@pytest.mark.shared
@pytest.mark.parametrize("name", FOLDERS)
def test_every_published_policy_gives_an_environment_the_same_alone_and_among_others(shared: Path, name: str):
    pytest.importorskip("torch" if name.endswith(".pt") else "onnxruntime")
    file = shared / "policies" / name
    many, one = load_policy(file), load_policy(file)
    assert (many.input_size, many.action_size) == FOLDERS[name]
    steps = np.random.default_rng(2).standard_normal((4, 3, FOLDERS[name][0])).astype(np.float32)
    for step in steps:
        together = many(step)
        np.testing.assert_allclose(together[1:2], one(step[1:2]), atol=2e-6 * max(1.0, np.abs(together).max()))


@pytest.mark.shared
def test_a_reset_forgets_one_environment_and_leaves_the_others(shared: Path):
    pytest.importorskip("torch")
    file = shared / "policies/g1-12dof-lstm-unitree_rl_gym/motion.pt"
    policy, fresh = load_policy(file), load_policy(file)
    steps = np.random.default_rng(5).standard_normal((3, 2, 47)).astype(np.float32)
    policy(steps[0])
    kept = load_policy(file)
    kept(steps[0])
    policy.reset([0])
    now = policy(steps[1])
    np.testing.assert_allclose(now[:1], fresh(steps[1][:1]), atol=1e-6)
    np.testing.assert_allclose(now[1:], kept(steps[1])[1:], atol=1e-6)
    assert np.abs(now[0] - kept(steps[1])[0]).max() > 1e-3


def test_a_batch_fixed_to_one_by_the_exporter_takes_any_number(onnx_file: Callable[..., Path]):
    policy = load_policy(onnx_file())
    given = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)
    np.testing.assert_allclose(policy(given)[:, 0], [1.0, 2.0, 3.0])


def test_weights_beside_the_file_are_read(onnx_file: Callable[..., Path]):
    file = onnx_file(location="policy.onnx.data")
    (file.parent / "policy.onnx.data").write_bytes(np.array([[3.0], [4.0]], np.float32).tobytes())
    assert load_policy(file)(np.ones((1, 2), np.float32))[0, 0] == pytest.approx(7.0)


def test_weights_that_are_not_there_are_told_where_to_get(onnx_file: Callable[..., Path]):
    message = refusal(onnx_file(location="policy.onnx.data"))
    assert "error E130" in message
    assert "copy policy.onnx.data beside policy.onnx" in message


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/hostname", "sub/../../weights.bin", "..\\weights.bin"])
def test_weights_outside_the_folder_are_refused(onnx_file: Callable[..., Path], location: str):
    assert "error E132" in refusal(onnx_file(location=location))


def test_an_onnx_file_with_two_inputs_is_refused_naming_both(onnx_file: Callable[..., Path]):
    message = refusal(onnx_file(inputs=("obs", "time_step")))
    assert "error E131" in message
    assert "obs [1, 2], time_step [1, 2]" in message


def test_weights_that_are_not_finite_are_an_error_of_the_policy_not_of_the_observation(onnx_file: Callable[..., Path]):
    policy = load_policy(onnx_file((1.0, float("nan"))))
    with pytest.raises(InputError, match=r"action 0 is nan in environment 0[\s\S]*its observation is finite"):
        policy(np.ones((1, 2), np.float32))


def test_an_observation_that_is_not_finite_is_named(onnx_file: Callable[..., Path]):
    with pytest.raises(InputError, match=r"value 1 of its observation is inf"):
        load_policy(onnx_file())(np.array([[0.0, np.inf]], np.float32))


def test_an_observation_of_another_width_is_refused(onnx_file: Callable[..., Path]):
    with pytest.raises(InputError, match=r"takes 2 values per environment, not an array of \(1, 3\)"):
        load_policy(onnx_file())(np.ones((1, 3), np.float32))


def test_a_policy_that_does_not_fit_says_which_terms_add_up_to_what(onnx_file: Callable[..., Path]):
    policy = load_policy(onnx_file())
    with pytest.raises(InputError) as caught:
        check_sizes(policy, [("base_lin_vel", 3), ("joint_pos", 2)], 1)
    assert "takes 2 values, the contract's observation has 5 = base_lin_vel 3 + joint_pos 2" in str(caught.value)
    assert "it fits without 'base_lin_vel'" in str(caught.value)
    with pytest.raises(InputError, match=r"gives 1 values, the contract's actions take 12"):
        check_sizes(policy, [("joint_pos", 2)], 12)


@pytest.mark.parametrize("name", ["policy.onnx", "policy.pt", "model.zip"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str):
    (tmp_path / name).touch()
    assert f"{name}: error E130: the policy file is empty" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["policy.onnx", "policy.pt", "model_1.pth"])
def test_garbage_is_refused(tmp_path: Path, name: str):
    pytest.importorskip("torch" if name != "policy.onnx" else "onnxruntime")
    (tmp_path / name).write_bytes(b"\x07garbage \xff\xfe" * 50)
    assert f"{name}: error E130" in refusal(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    assert "error E136" in refusal(tmp_path / "policy.onnx")


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("way", ["pickle", "torch"])
def test_a_checkpoint_with_code_in_it_is_refused_and_nothing_is_run(torch, tmp_path: Path, way: str):
    mark, file = tmp_path / "ran", tmp_path / "model_1.pt"
    data = {"model_state_dict": {}, "infos": Evil(mark)}
    if way == "torch":
        torch.save(data, file)
    else:
        file.write_bytes(pickle.dumps(data))
    message = refusal(file)
    assert "error E132" in message
    assert "nothing in it was run" in message
    assert not mark.exists()


def test_torchscript_that_writes_files_is_refused(torch, tmp_path: Path):
    class Writes(torch.nn.Module):
        def forward(self, x):
            torch.save(x, "stolen.pt")
            return x

    file = tmp_path / "policy.pt"
    try:
        torch.jit.script(Writes()).save(str(file))
    except Exception:  # noqa: BLE001 this build does not script it
        pytest.skip("this build of PyTorch does not script torch.save")
    assert "error E132" in refusal(file)


def test_a_truncated_torchscript_file_is_refused(torch, mlp, tmp_path: Path):
    file = tmp_path / "policy.pt"
    torch.jit.script(mlp).save(str(file))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "error E130" in refusal(file)


def test_an_unknown_activation_is_refused_with_those_that_are_known(torch, mlp, tmp_path: Path):
    file = tmp_path / "model_1.pt"
    torch.save({"model_state_dict": {f"actor.{n}": v for n, v in mlp.state_dict().items()}}, file)
    message = refusal(file, config={"policy": {"activation": "snake"}})
    assert "activation 'snake' is not known" in message
    assert "elu" in message


def test_a_checkpoint_of_no_known_library_is_refused_with_its_keys(torch, tmp_path: Path):
    file = tmp_path / "model_1.pt"
    torch.save({"weights": {"a": torch.ones(2)}}, file)
    message = refusal(file)
    assert "error E134" in message
    assert "it has weights" in message


def test_weights_that_diverged_are_refused(torch, mlp, tmp_path: Path):
    states = {f"actor.{n}": v.clone() for n, v in mlp.state_dict().items()}
    states["actor.2.weight"][0, 0] = float("nan")
    file = tmp_path / "model_1.pt"
    torch.save({"model_state_dict": states}, file)
    assert "actor.2.weight holds numbers that are not finite" in refusal(file)
