"""The configuration that the converters from USD have in common."""

from isaaclab.sim.converters.asset_converter_base_cfg import AssetConverterBaseCfg
from isaaclab.utils import configclass


@configclass
class UsdConverterBaseCfg(AssetConverterBaseCfg):
    """The base configuration class for converters that read USD.

    The names of the output keep those of Isaac Lab: :attr:`usd_dir` is the directory that the output is written to,
    :attr:`usd_file_name` its name, and :attr:`force_usd_conversion` converts in any case.
    :attr:`usd_file_name` may end in the suffix of the output, in a USD suffix or in none.

    The base class' ``make_instanceable`` and (3.0.0) ``physics_variant`` describe a USD that is written. They have no
    meaning here; which variant is *read* is chosen with :attr:`variants`.

    Every field is a string, a number, a boolean, None or a dictionary of strings: Isaac Lab writes the configuration
    to ``config.yaml`` and hashes it as JSON.
    """

    prim: str | None = None
    """The path of the prim that holds the robot. Defaults to None.

    If None, it is the default prim of the stage, or else its only root prim.
    """

    variants: dict[str, str] = {}  # noqa: RUF012 - configclass copies it for every instance
    """The variant to read of each variant set, by the name of the set. Defaults to an empty dictionary.

    A ``"Physics"`` variant set that has no selection is read as ``"physx"``, else as ``"physics"``.
    """

    fix_base: bool | None = None
    """Whether the base is fixed to the world. Defaults to None, which keeps what the asset says."""

    d6: str = "ball"
    """What a D6 or spherical joint with three free rotations becomes. Defaults to ``"ball"``.

    * ``"ball"``: one ball joint. The kinematics are exact; limits of single axes become one cone.
    * ``"hinges"``: three hinges. Limits of single axes are kept; the kinematics are right to first order.
    """

    world_joint: str = "keep"
    """What a movable joint between the world and the root link becomes. Defaults to ``"keep"``.

    * ``"keep"``: the joint that the author drew, such as that of a cart on a rail.
    * ``"weld"``: none; the root is fixed, which is what PhysX makes of it.
    """

    allow_outside: bool = False
    """Whether to read what the asset refers to by an absolute or a remote path. Defaults to False."""

    visuals: bool = True
    """Whether to convert visual geometry. Defaults to True."""

    cooked: bool = False
    """Whether mesh colliders are written as PhysX cooks them, read back from PhysX itself. Defaults to False."""

    joint_friction: str = "dynamic"
    """What the joint friction of PhysX becomes. Defaults to ``"dynamic"``.

    * ``"dynamic"``: the dynamic friction effort.
    * ``"static"``: the static friction effort.
    * ``"off"``: no joint friction.
    """

    mesh_format: str = "auto"
    """The format of the meshes: ``"stl"``, ``"obj"`` or ``"auto"``. Defaults to ``"auto"``.

    ``"auto"`` writes STL, and OBJ where a texture needs coordinates.
    """

    strict: bool = False
    """Whether a warning of the conversion is an error. Defaults to False."""
