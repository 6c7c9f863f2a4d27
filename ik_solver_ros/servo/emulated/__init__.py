"""Emulated servos and boards on a pseudo-terminal: as unkind as real ones, by traits, or kind.

port: what others open; emulator: the wire and the logs; mechanics: how a servo moves; registers, feetech, dynamixel,
register_servos, lx16a, hobby, ssc32, maestro: what each is; traits: in what real ones differ from good ones; faults:
bad cables; judge: what a run did to them.
"""
