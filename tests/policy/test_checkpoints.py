"""Checkpoints rebuilt without their library, against PyTorch's own layers."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isaaclab_mirror.policy.loading import load_policy

ELU = {"actor": {"activation": "elu"}, "policy": {"activation": "elu"}}


def torch_output(torch: Any, module: Any, observations: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(observations)).numpy()


def named(module: Any, prefix: str) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in module.state_dict().items()}


def saved(torch: Any, folder: Path, data: Any, name: str = "model_100.pt") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save(data, file)
    return file


def normalizer(torch: Any, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}_mean": torch.linspace(-1, 1, 6)[None],
        f"{prefix}_var": torch.linspace(0.5, 2, 6)[None],
        f"{prefix}_std": torch.linspace(0.5, 2, 6)[None] ** 0.5,
        f"{prefix}count": torch.tensor(10),
    }


def normalized(torch: Any, observations: np.ndarray) -> np.ndarray:
    numbers = normalizer(torch)
    return (observations - numbers["_mean"].numpy()) / (numbers["_std"].numpy() + 0.01)


def test_rsl_rl_2_keeps_its_normaliser_in_a_dict_of_its_own(torch, mlp, observations, tmp_path):
    states = {**named(mlp, "actor"), **named(mlp, "critic"), "std": torch.ones(3)}
    data = {"model_state_dict": states, "obs_norm_state_dict": normalizer(torch), "iter": 1, "infos": None}
    policy = load_policy(saved(torch, tmp_path, data), ELU)
    wanted = torch_output(torch, mlp, normalized(torch, observations))
    assert (policy.input_size, policy.action_size, policy.is_recurrent) == (6, 3, False)
    np.testing.assert_allclose(policy(observations), wanted, atol=1e-6)


def test_rsl_rl_3_keeps_its_normaliser_beside_the_actor(torch, mlp, observations, tmp_path):
    states = {**named(mlp, "actor"), **normalizer(torch, "actor_obs_normalizer."), **named(mlp, "critic")}
    policy = load_policy(saved(torch, tmp_path, {"model_state_dict": states, "infos": None}), ELU)
    wanted = torch_output(torch, mlp, normalized(torch, observations))
    np.testing.assert_allclose(policy(observations), wanted, atol=1e-6)


def test_rsl_rl_5_has_a_dict_for_the_actor_alone(torch, mlp, observations, tmp_path):
    states = {**named(mlp, "mlp"), **normalizer(torch, "obs_normalizer."), "distribution.std_param": torch.ones(3)}
    data = {"actor_state_dict": states, "critic_state_dict": named(mlp, "mlp"), "infos": None}
    policy = load_policy(saved(torch, tmp_path, data), ELU)
    wanted = torch_output(torch, mlp, normalized(torch, observations))
    np.testing.assert_allclose(policy(observations), wanted, atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_recurrent_layers_are_pytorchs_step_by_step(torch, observations, tmp_path, kind: str):
    memory, head = getattr(torch.nn, kind)(6, 7, num_layers=2), torch.nn.Linear(7, 3)
    states = {**named(memory, "memory_a.rnn"), **named(torch.nn.Sequential(head), "actor")}
    policy = load_policy(saved(torch, tmp_path, {"model_state_dict": states}), ELU)
    assert policy.is_recurrent
    with torch.no_grad():
        outputs, _ = memory(torch.from_numpy(np.repeat(observations[None], 4, axis=0)))
        wanted = head(outputs).numpy()
    for k in range(4):
        np.testing.assert_allclose(policy(observations), wanted[k], atol=1e-6)


def test_a_state_dependent_deviation_gives_the_mean_in_its_first_half(torch, mlp, observations, tmp_path):
    doubled = torch.nn.Sequential(mlp, torch.nn.Linear(3, 6))
    states = {
        f"actor.{k}.{n}": v for k, m in ((0, mlp[0]), (2, mlp[2]), (4, mlp[4])) for n, v in m.state_dict().items()
    }
    states |= {f"actor.6.{n}": v for n, v in doubled[1].state_dict().items()}
    chain = torch.nn.Sequential(*mlp, torch.nn.ELU(), doubled[1])
    settings = {"policy": {"activation": "elu", "state_dependent_std": True}}
    policy = load_policy(saved(torch, tmp_path, {"model_state_dict": states}), settings)
    assert policy.action_size == 3
    np.testing.assert_allclose(policy(observations), torch_output(torch, chain, observations)[:, :3], atol=1e-6)


def test_without_agent_yaml_elu_is_taken_and_said(torch, mlp, observations, tmp_path):
    policy = load_policy(saved(torch, tmp_path, {"model_state_dict": named(mlp, "actor")}))
    assert [note.code for note in policy.notes] == ["E138"]
    np.testing.assert_allclose(policy(observations), torch_output(torch, mlp, observations), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("tanh", "Tanh"),
        ("selu", "SELU"),
        ("gelu", "GELU"),
        ("mish", "Mish"),
        ("swish", "SiLU"),
        ("lrelu", "LeakyReLU"),
        ("softplus", "Softplus"),
    ],
)
def test_activations_are_pytorchs(torch, observations, tmp_path, name: str, module: str):
    chain = torch.nn.Sequential(torch.nn.Linear(6, 8), getattr(torch.nn, module)(), torch.nn.Linear(8, 2))
    file = saved(torch, tmp_path, {"model_state_dict": named(chain, "actor")})
    policy = load_policy(file, {"policy": {"activation": name}})
    np.testing.assert_allclose(policy(observations), torch_output(torch, chain, observations), atol=1e-6)


def test_skrl_bounds_its_normalised_observations(torch, mlp, observations, tmp_path):
    states = {**named(mlp[:4], "net_container"), **named(torch.nn.ModuleDict({"policy_layer": mlp[4]}), "x")}
    states = {name.removeprefix("x."): value for name, value in states.items()}
    scaler = {
        "running_mean": torch.linspace(-1, 1, 6, dtype=torch.float64),
        "running_variance": torch.full((6,), 1e-4, dtype=torch.float64),
        "current_count": torch.tensor(5.0, dtype=torch.float64),
    }
    file = saved(torch, tmp_path, {"policy": states, "state_preprocessor": scaler}, "agent_100.pt")
    policy = load_policy(file, {"models": {"policy": {"network": ({"activations": "elu"},), "output": "ACTIONS"}}})
    given = np.clip((observations - scaler["running_mean"].numpy()) / (1e-2 + 1e-8), -5, 5).astype(np.float32)
    np.testing.assert_allclose(policy(observations), torch_output(torch, mlp, given), atol=1e-6)


def test_rl_games_is_read_with_its_numpy_scalar_and_compiled_names(torch, mlp, observations, tmp_path):
    model = {
        **{f"_orig_mod.a2c_network.actor_mlp.{n}": v for n, v in mlp[:4].state_dict().items()},
        **{f"_orig_mod.a2c_network.mu.{n}": v for n, v in mlp[4].state_dict().items()},
        "_orig_mod.running_mean_std.running_mean": torch.linspace(-1, 1, 6, dtype=torch.float64),
        "_orig_mod.running_mean_std.running_var": torch.linspace(0.5, 2, 6, dtype=torch.float64),
    }
    file = saved(torch, tmp_path, {"model": model, "last_mean_rewards": np.float64(3.5)}, "nn/cartpole.pth")
    params = {"network": {"mlp": {"activation": "elu"}}, "config": {"clip_actions": False}}
    policy = load_policy(file, {"params": params})
    mean, variance = (model[f"_orig_mod.running_mean_std.running_{p}"].numpy() for p in ("mean", "var"))
    given = np.clip((observations - mean) / np.sqrt(variance + 1e-5), -5, 5).astype(np.float32)
    np.testing.assert_allclose(policy(observations), torch_output(torch, mlp, given), atol=1e-6)


def test_stable_baselines_are_read_from_the_weights_alone(torch, mlp, observations, tmp_path):
    states = {f"mlp_extractor.policy_net.{n}": v for n, v in mlp[:4].state_dict().items()}
    states |= {f"action_net.{n}": v for n, v in mlp[4].state_dict().items()}
    weights = saved(torch, tmp_path, states, "policy.pth")
    file = tmp_path / "model.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(weights, "policy.pth")
        archive.writestr("data", "{}")
    policy = load_policy(file, {"policy_kwargs": "dict(activation_fn=nn.ELU, net_arch=[16, 8])"})
    np.testing.assert_allclose(policy(observations), torch_output(torch, mlp, observations), atol=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("run", "checkpoint"), [("cartpole-isaaclab3-here", "model_149.pt"), ("go2-flat-isaaclab3-here", "model_1100.pt")]
)
def test_a_checkpoint_acts_as_its_own_export(torch, shared: Path, run: str, checkpoint: str):
    pytest.importorskip("onnxruntime", reason="needs the extra `policy`")
    folder = shared / "policies" / run
    exported, rebuilt = load_policy(folder / "exported/policy.onnx"), load_policy(folder / checkpoint, ELU)
    given = np.random.default_rng(1).standard_normal((64, exported.input_size)).astype(np.float32)
    wanted = exported(given)
    np.testing.assert_allclose(rebuilt(given), wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
