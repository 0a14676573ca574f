"""The configuration of the converter from USD to MJCF."""

from isaaclab.utils import configclass

from .usd_converter_base_cfg import UsdConverterBaseCfg


@configclass
class UsdToMjcfConverterCfg(UsdConverterBaseCfg):
    """The configuration class for :class:`UsdToMjcfConverter`."""

    fidelity: str = "nominal"
    """Which numbers the file carries. Defaults to ``"nominal"``.

    * ``"nominal"``: gains, limits and friction as the asset states them.
    * ``"physx"``: the best static parameters for moving as PhysX does.
    * ``"emulate"``: as ``"nominal"``, for a simulator that runs the solver step of PhysX itself.
    """

    contact_model: str = "auto"
    """How PhysX contacts become ``solref`` and ``solimp``. Defaults to ``"auto"``.

    * ``"auto"``: the defaults of MuJoCo if :attr:`fidelity` is ``"nominal"``, the measured law if it is ``"physx"``.
    * ``"mujoco"``: the defaults of MuJoCo.
    * ``"measured"``: the measured law.
    * ``"standard"``: the formula of the conversion standard, which is far too soft: for conformance only.
    """

    timestep: float | None = None
    """The time step of PhysX (in s). Defaults to None, which takes that of the asset, else 1/200 s."""

    substeps: int = 1
    """The number of MuJoCo steps in a step of PhysX. Defaults to 1. The time step written is divided by it."""

    solver: str = "source"
    """The solver settings: ``"source"``, ``"training"`` or ``"validation"``. Defaults to ``"source"``.

    ``"source"`` takes those of the asset, the others are presets of the conversion standard.
    """

    scene: bool = False
    """Whether to write a ``<name>_scene.xml`` with ground and light beside the robot. Defaults to False."""

    ground: bool = False
    """Whether to add a ground plane to the robot file itself. Defaults to False."""
