"""Leads servos on a port that another process has: from one motion to the next, until it is killed."""

from __future__ import annotations

import sys

from benchmarks.hardware.rig import Rig


def main(url: str, protocol: str) -> None:
    rig = Rig(url, protocol)  # its own servos are never plugged in
    while True:
        if not rig.cycle.enabled or rig.cycle.fault:
            rig.enable()
        for text in rig.events:
            print(text, flush=True)
        rig.events.clear()
        rig.go(0.8)
        rig.run(float(rig.rng.uniform(0.5, 1.8)))


if __name__ == "__main__":
    main(*sys.argv[1:])
