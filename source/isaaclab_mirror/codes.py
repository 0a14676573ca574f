"""What each diagnostic code means, what is done about it, and how it looks; `make docs-diagnostics` writes the page.

E001–E005 and V001–V004 are those of the conversion standard, the others continue the series: E00x the robot's own
numbers, E01x the file, E02x what PhysX makes of it, E03x the numbers and the output, E04x URDF, E05x the simulators,
E09x the command line, E10x and E11x what a policy expects.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One diagnostic code."""

    title: str
    meaning: str
    recovery: str
    """What the conversion does: goes on with something, or refuses."""
    example: str
    """As it is printed."""


CODES: dict[str, Code] = {
    "E001": Code(
        "joint that the target cannot say",
        "The target format has no joint of this type, or the joint has no meaning as authored.",
        "The closest equivalent with a warning; refused where an axis has no direction.",
        "arm.usda:/arm/joints/wrist: warning E001: URDF has no ball joint: three hinges in a row (x, y, z), "
        "right at zero and to first order about it",
    ),
    "E002": Code(
        "missing or empty mesh, payload or texture",
        "A mesh has no triangles, broken faces, points that are not finite or no size; or the file of a payload or "
        "texture is not there or cannot be read.",
        "The mesh or payload is left out, the colour stands for the texture.",
        "arm.usda:/arm/hand/visual: warning E002: the mesh has no points or no faces: left out",
    ),
    "E003": Code(
        "inertia of no real body",
        "Principal moments are negative, zero or break the triangle inequality, or are not known where they must be.",
        "MJCF: the nearest moments that a body can have. URDF: as they are, which its readers may refuse.",
        "arm.usda:/arm/hand: warning E003: diagonalInertia (0.1, -0.1, 0.1) has a negative moment: PhysX "
        "takes its size",
    ),
    "E004": Code(
        "mass that is not positive, or none",
        "A mass or density is zero or negative, or nothing says what a link weighs.",
        "Computed from the colliders as PhysX does; a frame without colliders weighs 1 kg there and here. Refused "
        "where the mass is too small for any engine.",
        "arm.usda:/arm/tool0: warning E004: no mass and no collider: PhysX gives such a frame 1 kg, and so "
        "does this file",
    ),
    "E005": Code(
        "kinematic loop",
        "A joint connects links that are connected already.",
        "MJCF: an equality constraint. URDF, which is a tree: left out.",
        "fourbar.usda:/joints/j4: info E005: this joint closes a kinematic loop: written as a constraint",
    ),
    "E006": Code(
        "shape that cannot be written as it is",
        "A shape has no counterpart in the target, no size that an engine can hold, or a collider stands on a prim "
        "that has no shape.",
        "The closest shape, or left out where nothing is close.",
        "cartpole.usda:/cartpole/floor: warning E006: URDF has no planes: the top of a large box",
    ),
    "E007": Code(
        "joint limit that PhysX rejects",
        "One bound alone, or the lower one above the upper one.",
        "The joint is locked at zero, as in PhysX.",
        "arm.usda:/arm/joints/elbow: warning E007: limits [None, 90.0]: PhysX rejects a one-sided or "
        "reversed limit and locks the joint at 0",
    ),
    "E010": Code(
        "file that is not there or no USD",
        "The file does not exist, is a folder, is empty, or USD cannot open it.",
        "Refused.",
        "robot.usd: error E010: no such file",
    ),
    "E011": Code(
        "layer that is not there",
        "The asset names a layer that cannot be found, is no USD or refers to itself; or a prim that is not in it. "
        "Of a payload, which holds meshes, it is E002.",
        "Read without it; refused when no rigid body is left.",
        "robot.usda:/robot/sensors: warning E011: reference robot_sensor.usd is not there or no USD",
    ),
    "E012": Code(
        "relationship that leads nowhere",
        "A joint, mimic or filter names a prim that is not there or not part of the robot.",
        "What names it is left out.",
        "arm.usda:/arm/joints/elbow: warning E012: body1 names /arm/forearm, which is not there: the joint is left out",
    ),
    "E013": Code(
        "no robot in the file",
        "The stage has no rigid body.",
        "Refused.",
        "crazyflie.usd: error E013: no rigid body in the stage: there is no robot in it",
    ),
    "E014": Code(
        "value that is no finite number",
        "NaN or infinity where a number must stand, another type, a word that means nothing, or a unit that is not "
        "positive.",
        "Refused, with the attribute. What has a harmless reading is read so, with a warning: a negative friction as "
        "none, an unknown combine mode as the default, a colour as none.",
        "arm.usda:/arm/hand.physics:mass: error E014: the value is not a number",
    ),
    "E015": Code(
        "asset path that leaves the asset's folder",
        "A layer or texture is named by an absolute or remote path, or by a relative one that goes up.",
        "Absolute and remote ones are not read unless `allow_outside` is set; what relative ones reach is read, as "
        "published assets need it, and said.",
        "robot.usda:/etc/passwd: error E015: robot.usda names a file of this machine outside the asset's folder",
    ),
    "E016": Code(
        "variant",
        "A variant set has no selection, or the one asked for does not exist.",
        "`physx`, else `physics`, is taken and said; one that does not exist is refused.",
        "g1.usda:/g1: info E016: variant set Physics has no selection: read as 'physx'",
    ),
    "E017": Code(
        "units and axes",
        "The stage is not in metres and z up, or does not say.",
        "Converted to metres and z up; lengths without a unit are taken as metres.",
        "robot.usda:/: info E017: upAxis is Y: turned so that z is up",
    ),
    "E018": Code(
        "out of scope",
        "Deformables, particles, vehicles and the like.",
        "Left out.",
        "scene.usda:/World/cloth: warning E018: deformables, particles and vehicles are out of scope: left out",
    ),
    "E019": Code(
        "rigid body inside an instance",
        "PhysX makes no body of it.",
        "Left out, as in PhysX.",
        "robot.usda:/robot/wheel: warning E019: a whole rigid body inside an instance is no body in PhysX",
    ),
    "E020": Code(
        "which robot",
        "The stage has several robots, or the prim asked for does not exist.",
        "Refused, with the choices.",
        "ants.usda: error E020: 64 robots in the stage",
    ),
    "E021": Code(
        "several joints between one pair of bodies",
        "PhysX keeps the one whose path sorts first.",
        "The others are left out, as in PhysX.",
        "humanoid.usda:/joints/hip_y: warning E021: a second joint between one pair of bodies: PhysX keeps hip_x alone",
    ),
    "E022": Code(
        "fixed base that PhysX lets float",
        "The articulation root is a body, so that the joint to the world is no part of the articulation.",
        "Said; `fix_base` decides otherwise.",
        "panda.usda:/panda/root_joint: warning E022: the articulation root is a body: PhysX leaves the base "
        "floating and this joint to the world a soft constraint",
    ),
    "E023": Code(
        "movable joint to the world",
        "PhysX welds it.",
        "Kept as its author drew it; `world_joint=weld` for what PhysX does.",
        "cartpole.usda:/cartpole/joints/slider: warning E023: PhysX turns a movable joint between the world "
        "and the root link into a weld: kept here as its author drew it",
    ),
    "E024": Code(
        "drive on an axis that the joint does not have",
        "A linear drive on a revolute joint, or the other way round.",
        "Ignored, as PhysX does.",
        "arm.usda:/arm/joints/elbow: warning E024: drive:linear on a PhysicsRevoluteJoint is ignored, as PhysX does",
    ),
    "E025": Code(
        "PhysxJointAPI that a later PhysX ignores",
        "armature, jointFriction and maxJointVelocity are read by Isaac Lab's PhysX and ignored by ovphysx 0.7.0.",
        "Read.",
        "go2.usda:/: info E025: PhysxJointAPI (armature, jointFriction, maxJointVelocity) is read here and "
        "by Isaac Lab 3.0's PhysX (ovphysx 0.6.4), but ignored by ovphysx 0.7.0",
    ),
    "E026": Code(
        "dead drive",
        "maxForce is zero or negative: PhysX leaves the drive nothing to push with.",
        "Written with that bound.",
        "rover.usda:/rover/joints/boogie: warning E026: drive:angular has maxForce 0: PhysX makes it a dead "
        "drive, and so does this file",
    ),
    "E027": Code(
        "mimic that PhysX ignores",
        "The instance of the API is a translation.",
        "Left out, as in PhysX.",
        "hand.usda:/hand/joints/finger: warning E027: PhysX ignores a mimic on transX: left out",
    ),
    "E028": Code(
        "gravity direction that is no unit vector",
        "PhysX does not normalise it.",
        "Gravity is as strong as PhysX makes it.",
        "scene.usda:/physicsScene: warning E028: gravityDirection has length 2: PhysX does not normalise it, "
        "gravity is 19.62 m/s²",
    ),
    "E029": Code(
        "joint that is no part of the robot",
        "Disabled, or between prims that are no links of it.",
        "Left out, with the reason.",
        "rover.usda:/rover/world_joint: info E029: the joint is left out: it is disabled",
    ),
    "E030": Code(
        "more collision classes than MuJoCo has bits",
        "contype and conaffinity have 32 bits each.",
        "The filters are left out and counted as lost.",
        "collision filter: warning E030: 41 classes of filtered geoms, 30 fit into MuJoCo's masks",
    ),
    "E031": Code(
        "the standard's contact formula",
        "`contact_model=standard` was asked for: far softer than what PhysX does.",
        "Written as asked.",
        "contact_model: warning E031: the standard's contact formula 4.1.1 reads a margin as a stiffness: "
        "contacts sink by centimetres",
    ),
    "E032": Code(
        "acceleration drive",
        "Its gains are multiplied by an inertia that moves with the pose; MuJoCo's gains are constant.",
        "Written for the inertia at zero.",
        "g1.usda:/g1/Physics/left_knee_joint: warning E032: acceleration drive: its gains move with the "
        "pose; written for 0.02392 at zero",
    ),
    "E033": Code(
        "robot that MuJoCo refuses",
        "MuJoCo's compiler does not accept what was written, or MuJoCo could not load it: a chain of more than "
        "496 links (URDF: 1024).",
        "Refused, with what MuJoCo says; a URDF is written all the same, with a warning.",
        "arm.usda:/arm: error E033: MuJoCo cannot compile the robot: mass and inertia of moving bodies must be larger "
        "than mjMINVAL",
    ),
    "E034": Code(
        "option that this MuJoCo does not know",
        "The installed MuJoCo is older or newer than the option, or the word is none of its choices.",
        "Left at its default; a word that is no choice is refused, with the choices.",
        "flag sleep: warning E034: this MuJoCo does not know the flag: left at its default",
    ),
    "E035": Code(
        "keyframe that does not fit",
        "Its sizes are not those of the model.",
        "Left out.",
        "keyframe stand: warning E035: 19 positions for 18, 12 controls for 12: left out",
    ),
    "E036": Code(
        "output that cannot be written",
        "The folder or file is not writable.",
        "Refused; old output stays as it was.",
        "out: error E036: the output folder cannot be written: Permission denied",
    ),
    "E037": Code(
        "format",
        "The suffix is of no robot format, or that format is not read or written yet.",
        "Refused, with those that are.",
        "robot.obj: error E037: no robot format has the suffix '.obj'",
    ),
    "E038": Code(
        "broken model",
        "Two elements with one name, or a link whose parent is not there.",
        "Refused.",
        "arm.usda: error E038: two links have one name",
    ),
    "E039": Code(
        "PhysX could not be asked",
        "Mass properties that PhysX computes by cooking were wanted from PhysX itself, which is not there or failed.",
        "Computed here by PhysX's rules.",
        "robot.usda:/: info E039: PhysX could not be asked for mass properties: its process ended with code -11",
    ),
    "E040": Code(
        "what URDF cannot say",
        "A constraint, actuator, geom or setting has no word in URDF.",
        "Left out or its closest part; counted in the fidelity table.",
        "go2.usda:/: info E040: URDF cannot say: contact materials (2): URDF has no word for them",
    ),
    "E041": Code(
        "name that URDF cannot take",
        "Empty, used twice, or with characters that its readers refuse.",
        "Renamed.",
        "arm.usda:/arm/world: warning E041: link name 'world' is taken: written as 'world_1'",
    ),
    "E042": Code(
        "free base, or several roots",
        "URDF has one root link, and leaves to its reader whether that is free.",
        "A free root is written as the root link; several are joined under one link.",
        "base: info E042: the free base is not written: a URDF whose root link is 'base' is free by convention",
    ),
    "E043": Code(
        "mesh format",
        "`mesh_format` names no format that is written.",
        "Refused, with those that are.",
        "options: error E043: mesh_format 'fbx' is not known",
    ),
    "E044": Code(
        "part of an MJCF or URDF that is not read",
        "Tendons, contact pairs, actuators on something else than a joint: the robot model is made of the rest.",
        "Left out.",
        "hand.xml: warning E044: 4 tendons of this MJCF are left out",
    ),
    "E050": Code(
        "setting that no simulator takes",
        "A setting of the simulation does not exist, or has a value that neither engine can run with.",
        "Refused.",
        "settings: error E050: timestep_s is 0: it must be positive",
    ),
    "E051": Code(
        "joint or link that the robot does not have",
        "A target, a start or a question names something that is not there.",
        "Refused, with the nearest name; nothing is changed.",
        "PhysX: error E051: there is no joint 'FL_hip'",
    ),
    "E052": Code(
        "array of the wrong size",
        "Targets, efforts, a start or environment numbers do not fit the robot and the number of environments.",
        "Refused; nothing is changed.",
        "MuJoCo: error E052: position target of shape (11,) where (1, 12) or (12,) is expected",
    ),
    "E053": Code(
        "target or start that is not finite",
        "NaN, infinity or a negative gain would be handed to the engine.",
        "Refused, with the joint; nothing is changed.",
        "MuJoCo: error E053: position target of joint 'FL_hip_joint' is not finite",
    ),
    "E054": Code(
        "simulator that is closed",
        "It was used after `close`.",
        "Refused.",
        "PhysX: error E054: the simulator is closed",
    ),
    "E055": Code(
        "state that exploded",
        "A position or velocity is not finite or beyond all speeds: the engine's step was not stable.",
        "Raised, with engine, joint, environment and time; a reset makes the simulator usable again.",
        "MuJoCo: error E055: the state exploded at joint 'left_hip_pitch_joint' (q = 3.2e+04, v = 2.1e+06), "
        "environment 0, t = 0.035 s",
    ),
    "E056": Code(
        "PhysX that is not installed",
        "What was asked for needs the extra `physx`.",
        "Refused, with how to install it; the rest works without.",
        "PhysX: error E056: PhysX is not installed (no module 'ovphysx')",
    ),
    "E057": Code(
        "PhysX that ended",
        "The child process that PhysX runs in crashed, was killed, does not answer, or raised what it should not.",
        "Raised, with robot, what happened and the simulated time; no process is left behind, and the simulator can be "
        "made again.",
        "PhysX: error E057: the process that runs 'go2' was killed (SIGKILL) (in 'advance', t = 0.35 s)",
    ),
    "E058": Code(
        "robot that PhysX does not take",
        "PhysX cannot load the stage, makes no articulation of it, or cannot copy it into several environments.",
        "Refused.",
        "arm.usda: error E058: PhysX makes no articulation of it",
    ),
    "E059": Code(
        "fidelity that is not installed",
        "`emulate` needs the extra of the same name.",
        "Refused, with how to install it.",
        "MuJoCo: error E059: fidelity emulate is not there: No module named 'numba'",
    ),
    "E060": Code(
        "robot that the emulation cannot step",
        "Ball joints, several floating bodies: PhysX's step was measured on one articulation of hinges and slides.",
        "Refused; the static laws (`physx`) run it.",
        "MuJoCo: error E060: the emulation of PhysX cannot step this model: joint 'hip' is a ball",
    ),
    "E061": Code(
        "left out of the emulation",
        "A contact between two links, a loop, a tendon: fidelity `emulate` does not know it.",
        "Kept going without it.",
        "rod: warning E061: left out of the emulation: loops are not covered, nor couplings that are not linear",
    ),
    "E062": Code(
        "approximated in the emulation",
        "A shape for which PhysX's contact points are known only nearly, such as a convex hull.",
        "Kept going.",
        "foot – ground: info E062: approximated in the emulation: every vertex of the hull counts",
    ),
    "E063": Code(
        "emulation that is not compiled",
        "Without numba PhysX's step runs as plain Python.",
        "Kept going, some hundred times slower.",
        "MuJoCo: warning E063: numba is not installed: PhysX's step is interpreted",
    ),
    "E064": Code(
        "start inside the ground",
        "A link is inside the ground plane at the initial pose: both engines throw it out, each in its own way.",
        "Kept, with the deepest link and its depth.",
        "go2.usda: warning E064: link 'base' starts 0.057 m inside the ground, and 12 more",
    ),
    "E065": Code(
        "nothing to fit",
        "`calibrate` moves joints by their drives: the robot has no joint, or no drive that could move one.",
        "Refused.",
        "chain.usda: error E065: there is nothing to fit: no joint has a drive that could move it",
    ),
    "E066": Code(
        "colliders as PhysX cooks them",
        "`cooked` was asked for: PhysX's hulls and decompositions take the place of mesh colliders.",
        "Those that PhysX does not tell are made here: the mesh's own hull, or a decomposition by coacd (extra "
        "`decompose`) with PhysX's limits.",
        "go2.usda:/: info E066: 12 mesh colliders are 27 hulls, 12 from PhysX",
    ),
    "E090": Code(
        "option that does not exist",
        "A key of `--set` or of the options file is no option.",
        "Refused, with the nearest one.",
        "--set: error E090: there is no option 'fidelty'",
    ),
    "E091": Code(
        "value that the option cannot take",
        "Another type, none of the choices, or a number that means nothing, such as a negative time step.",
        "Refused, with the choices.",
        "fidelity: error E091: 'exact' is not one of nominal, physx, emulate",
    ),
    "E092": Code(
        "options file",
        "It cannot be read or is no TOML.",
        "Refused.",
        "mirror.toml: error E092: the options file is no TOML: Expected '=' after a key (at line 3, column 5)",
    ),
    "E130": Code(
        "policy file that cannot be read",
        "It is empty, cut off, or none of ONNX, TorchScript and the checkpoints of rsl_rl, skrl, rl_games and sb3.",
        "Refused.",
        "policy.onnx: error E130: the policy file is empty",
    ),
    "E131": Code(
        "policy that does not fit",
        "It takes or gives another number of values than the contract's observations and actions have.",
        "Refused, with the terms and what they add up to.",
        "policy.onnx: error E131: the policy takes 45 values, the contract's observation has 48 = base_lin_vel 3 + "
        "base_ang_vel 3 + …",
    ),
    "E132": Code(
        "policy file with code or paths in it",
        "A pickle that constructs objects, TorchScript that writes files, weights outside the file's folder.",
        "Refused; nothing of it is run or read.",
        "model_1500.pt: error E132: the checkpoint holds more than tensors and plain values: it wants os.system",
    ),
    "E133": Code(
        "policy that is not finite",
        "Its weights or its actions are NaN or infinite.",
        "Refused, with the value of the observation that is not finite, where one is.",
        "policy.onnx: error E133: the policy's action 3 is nan in environment 0",
    ),
    "E134": Code(
        "network that is not rebuilt",
        "A checkpoint whose layers, activation or output are of a kind that is not known.",
        "Refused; an export to ONNX holds the network itself.",
        "model_1500.pt: error E134: activation 'snake' is not known",
    ),
    "E135": Code(
        "policy that needs an extra",
        "ONNX needs the extra `policy`, files of PyTorch the extra `torch`.",
        "Refused, with how to install it.",
        "model_1500.pt: error E135: reading it needs PyTorch",
    ),
    "E136": Code(
        "policy that is not there",
        "The run has no policy file, or the one that was named does not exist.",
        "Refused, with the places that were looked at.",
        "run: error E136: there is no policy in the run",
    ),
    "E137": Code(
        "policy that is code",
        "TorchScript is a program.",
        "Run, after its text was looked through for operators that reach outside.",
        "policy.pt: info E137: TorchScript is code: only policies of people you trust should be run",
    ),
    "E138": Code(
        "activation that is a guess",
        "A checkpoint has the weights alone, and no agent.yaml says which activation stands between the layers.",
        "elu is taken.",
        "model_1500.pt: warning E138: no agent.yaml says which activation the network has: elu is taken",
    ),
    "E140": Code(
        "trace that cannot be read",
        "It is no npz of this schema, or its arrays do not fit each other.",
        "Refused; objects in it are never made.",
        "replay.npz: error E140: it has no joint_pos",
    ),
    "E141": Code(
        "video that cannot be written",
        "A suffix of no video, or the extra `report` is not installed.",
        "Refused, before the replay.",
        "walk.gif: error E141: no video has the suffix '.gif'",
    ),
    "E142": Code(
        "window that cannot be opened",
        "The native viewer needs a display.",
        "Refused; the browser viewer and videos need none.",
        "viewer: error E142: no window can be opened: could not initialize GLFW",
    ),
    "E143": Code(
        "picture that cannot be drawn",
        "An environment is to render, and no OpenGL works on this machine.",
        "Refused; videos of `replay` fall back to a software rasterizer.",
        "picture: error E143: no OpenGL works here",
    ),
    "E144": Code(
        "randomisation that is not applied",
        "An event of the task changes something that a mirror cannot draw: colours, scales, tendons, outer forces.",
        "Left out; the others are drawn.",
        "events.scale: warning E144: randomize_rigid_body_scale is not applied",
    ),
    "V001": Code(
        "kinematic mismatch",
        "Links, joints, limits, forward or inverse kinematics or Jacobians of the two engines or files differ.",
        "The validation fails (exit code 1).",
        "arm.usda: error V001: joint limits: 0.12 rad or m at wrist_1_joint, limit 1e-06 rad or m",
    ),
    "V002": Code(
        "dynamics beyond the tolerance",
        "Masses, mass matrix, bias, gains, or a motion: free fall, swing, steps, tracking, contact forces, slip.",
        "The figures are reported; a test that the standard requires fails the validation (exit code 1).",
        "arm.usda: warning V002: tracking: 0.013 rad at elbow_joint, limit 0.01 rad",
    ),
    "E100": Code(
        "no config of a policy",
        "The path does not exist, or nothing in it is a config that is known.",
        "Refused.",
        "logs: error E100: no config of a policy is in this folder",
    ),
    "E101": Code(
        "name that the robot does not have",
        "A joint or body name, or a pattern, of the contract matches nothing in the robot.",
        "Refused, with the nearest name.",
        "env.yaml:scene.robot.init_state.joint_pos: error E101: nothing in the robot matches '.*_knee_joint'",
    ),
    "E102": Code(
        "ambiguous or broken pattern",
        "A joint is matched by two patterns of one setting, or a pattern is no regular expression.",
        "Refused, as Isaac Lab does.",
        "env.yaml:actions.joint_pos.scale: error E102: 'left_hip_yaw' is matched by both '.*_hip_.*' and '.*_yaw'",
    ),
    "E103": Code(
        "config that cannot be read safely",
        "No YAML or TOML, empty, too large, or with a tag that would make an object or call something.",
        "Refused; nothing of the file is run.",
        "env.yaml:seed: error E103: the tag !!python/object/apply:os.system (line 3) is not read",
    ),
    "E104": Code(
        "key that is missing or of the wrong type",
        "A config has no number, name or mapping where one must be, or one that is not finite.",
        "Refused, with the path of the key.",
        "env.yaml:sim.dt: error E104: 'fast' is not a finite number",
    ),
    "E105": Code(
        "order of joints that nobody wrote down",
        "The config has no order, and the robot file at hand is not that of the training.",
        "The engine's rule on the file at hand, as a guess; refused where not even that is known.",
        "h1_env.yaml: joint order: warning E105: the joint order is not written down: PhysX: breadth first, "
        "children by joint path, on model.xml, which is not the training asset",
    ),
    "E106": Code(
        "joints called differently in the robot's file",
        "The policy's joint names and the file's differ by a suffix.",
        "Matched without it; the policy's names are kept.",
        "h1_env.yaml: warning E106: 19 joints are called differently in the robot's file: 'left_hip_yaw' is taken "
        "to be 'left_hip_yaw_joint'",
    ),
    "E107": Code(
        "policy file that is not there, or several",
        "No file in the folder is a policy, more than one may be, or it is of no kind that is known.",
        "The contract is read without it; refused where a choice is needed.",
        "run: warning E107: there is no policy in this folder",
    ),
    "E108": Code(
        "robot file of the training that is not there",
        "The asset that the config names is not on this machine.",
        "A robot file beside the config is taken for it; without one, joints stay patterns.",
        "h1_env.yaml: warning E108: h1_minimal.usd of the training is not here: model.xml beside the config is "
        "taken for it",
    ),
    "E109": Code(
        "numbers of two sources that disagree",
        "What the config says does not fit the robot's file or the policy: a default position outside the limits, "
        "an input of another size than the observations add up to.",
        "The config's is kept; refused where the policy could not run.",
        "policy.onnx: error E109: the policy takes 45 numbers, the observations are 48: base_lin_vel 3, …",
    ),
    "E110": Code(
        "setting that has no counterpart here",
        "Several assets, a scaled robot, another engine than PhysX, or a converter's property.",
        "Said, and the nearest thing is done; refused where it would be another robot.",
        "env.yaml:scene.robot.spawn.assets_cfg: warning E110: several assets, one per environment: the first is taken",
    ),
    "E111": Code(
        "contract.toml with a key that is not known",
        "A key that no field has, a later schema, or a value of the wrong type.",
        "Refused, with the path of the key.",
        "contract.toml:sim.dtt: error E111: there is no such key",
    ),
    "E112": Code(
        "generation of the framework that cannot be told",
        "Nothing in the config says which version wrote it, and the order of quaternions depends on it.",
        "The likelier one, said.",
        "env.yaml: warning E112: nothing in the file tells the generation of Isaac Lab: quaternions are taken as wxyz",
    ),
    "E120": Code(
        "term that is not known",
        "The task uses an observation, action, command, termination, reward, event or actuator that the adapter does "
        "not have.",
        "Refused for what the policy sees and does; rewards, ends and events are left out and told. The message names "
        "the nearest known one and the file where the task defines it.",
        "observation gait_clock: error E120: unknown observation term 'gait_clock', defined in my_tasks/mdp/obs.py",
    ),
    "E121": Code(
        "plugin that cannot be used",
        "A file given with `--plugin` is missing, does not run, or registers a name twice.",
        "Refused, with the file and the Python error.",
        "my_terms.py: error E121: the plugin does not run: NameError: name 'np' is not defined",
    ),
    "E122": Code(
        "term's setting that does not fit",
        "A term's parameter is missing, unknown, or of the wrong size.",
        "Refused, with the term and what is known.",
        "command base_velocity.ranges.heading: error E122: no range is given",
    ),
    "E123": Code(
        "actuator network that cannot be read",
        "The TorchScript file of an ActuatorNetMLP or ActuatorNetLSTM is missing or of another structure.",
        "Refused, with the file's name as the task has it.",
        "actuator legs: error E123: the actuator network anydrive_3_lstm.pt is not there",
    ),
    "E124": Code(
        "something the environment does not offer",
        "A term reads what is not simulated here: an object, a tendon, a joint's wrench, a Jacobian.",
        "Refused for what the policy sees and does; rewards, ends and events are left out and told.",
        "scene.cube_1: error E124: the environment has no 'cube_1'",
    ),
    "V003": Code(
        "actuator or tendon without its target",
        "It acts on something that is no part of the robot.",
        "Left out.",
        "hand.usda:/hand/Physics/A_WRJ1: warning V003: the actuator's target is not part of the robot: left out",
    ),
    "V004": Code(
        "contact that differs",
        "The engines meet the ground differently: at other forces, at another height, or one of them not at all.",
        "Look at the colliders; the figures are reported.",
        "dog.usda: warning V004: resting contact force: 0.071 rel, limit 0.05 rel",
    ),
}
