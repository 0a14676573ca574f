"""The switches: which laws of PhysX's step are in force, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Laws:
    """All on is PhysX. One off is PhysX without that law: the difference is what the law explains of a gap."""

    drives: bool = True
    """Implicit PD drives act at all."""
    acceleration_drives: bool = True
    """Off: acceleration drives act as force drives of the same gains."""
    efforts: bool = True
    effort_limits: bool = True
    """maxForce, of drive and explicit effort together."""
    bounded_efforts: bool = True
    """Off: maxForce bounds drives alone, as in ovphysx 0.6.4, on which Isaac Lab 3.0 stands; 0.7.0 bounds both."""
    couplings: bool = True
    """Joints that follow others (mimic joints)."""
    joint_friction: bool = True
    limits: bool = True
    velocity_limits: bool = True
    body_damping: bool = True
    angular_velocity_limits: bool = True
    """maxAngularVelocity of a link."""
    coriolis: bool = True
    contacts: bool = True
    contact_friction: bool = True
    """Off: contacts without friction."""
    static_friction: bool = True
    """Off: the dynamic coefficient alone."""
    speculative_contacts: bool = True
    """Off: a contact acts from touch, not from its contact offset on."""
    contact_drift: bool = True
    """The Coriolis part of a link's velocity in its contacts."""
    momentum: bool = True
    """A floating robot's momentum is restored after integrating."""
    pair_order: bool = True
    """Several shapes of a link in PhysX's order; off: in the file's."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every switch."""
        return tuple(f.name for f in fields(cls))

    def without(self, name: str) -> Laws:
        """The same with one law off."""
        if name not in self.names():
            raise ValueError(f"no law {name!r}; there are {', '.join(self.names())}")
        return replace(self, **{name: False})

    def one_off(self) -> Iterator[tuple[str, Laws]]:
        """Each law that is on, and all others without it: for attributing a gap law by law."""
        for name in self.names():
            if getattr(self, name):
                yield name, self.without(name)
