"""USD → MJCF by newton: its importer with all three schema resolvers, saved by its MuJoCo solver."""

from __future__ import annotations

import newton
import serving
import warp
from newton.solvers import SolverMuJoCo
from newton.usd import SchemaResolverMjc, SchemaResolverNewton, SchemaResolverPhysx


def convert(source: str, target: str, prim: str | None) -> None:
    """One robot through newton's model into the file its solver saves."""
    warp.config.quiet = True
    builder = newton.ModelBuilder()
    SolverMuJoCo.register_custom_attributes(builder)
    resolvers = [SchemaResolverNewton(), SchemaResolverMjc(), SchemaResolverPhysx()]
    chosen = {} if prim is None else {"root_path": prim}
    builder.add_usd(source, schema_resolvers=resolvers, **chosen)
    SolverMuJoCo(builder.finalize(), use_mujoco_cpu=True, save_to_mjcf=target)


if __name__ == "__main__":
    raise SystemExit(serving.main(convert))
