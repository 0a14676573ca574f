"""`python -m isaaclab_mirror` is the command `isaaclab-mirror`."""

from isaaclab_mirror.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
