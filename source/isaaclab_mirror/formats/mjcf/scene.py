"""The scene file: the robot with ground, sky and light, as MuJoCo's viewer users expect."""

from __future__ import annotations

from isaaclab_mirror.physics.lowered import Lowered


def _quoted(text: str) -> str:
    """An attribute value (the standard library's quoteattr drags in urllib and ssl: 40 ms)."""
    for raw, safe in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;")):
        text = text.replace(raw, safe)
    return f'"{text}"'


def scene_text(lowered: Lowered, robot_file: str) -> str:
    """An MJCF that includes the robot and puts a floor under it."""
    include, model = _quoted(robot_file), _quoted(f"{lowered.robot.name} scene")
    return f"""<mujoco model={model}>
  <include file={include}/>

  <visual>
    <headlight diffuse="0.6 0.6 0.6" ambient="0.3 0.3 0.3" specular="0 0 0"/>
    <rgba haze="0.15 0.25 0.35 1"/>
    <global azimuth="-130" elevation="-20"/>
  </visual>

  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0.3 0.5 0.7" rgb2="0 0 0" width="512" height="3072"/>
    <texture type="2d" name="ground" builtin="checker" mark="edge" rgb1="0.2 0.3 0.4" rgb2="0.1 0.2 0.3"
      markrgb="0.8 0.8 0.8" width="300" height="300"/>
    <material name="ground" texture="ground" texuniform="true" texrepeat="5 5" reflectance="0.2"/>
  </asset>

  <worldbody>
    <light pos="0 0 3.5" dir="0 0 -1" directional="true"/>
    <geom name="ground" type="plane" size="0 0 0.05" material="ground"/>
  </worldbody>
</mujoco>
"""
