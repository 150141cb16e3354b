"""Plays one case and writes what came of it to result.json in its folder.

usage: play.py CASE FOLDER (as `run` calls it, in a network namespace of its own)
"""
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time
import traceback

from casebook import all_cases
from stage import Broken, Stage


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        get_flags, set_flags, up = 0x8913, 0x8914, 1
        flags = struct.unpack("16sh", fcntl.ioctl(s, get_flags, struct.pack("16sh", b"lo", 0)))[1]
        fcntl.ioctl(s, set_flags, struct.pack("16sh", b"lo", flags | up))


def main():
    name, folder = sys.argv[1:]
    case = all_cases()[name]
    bring_up_loopback()
    become_reaper = 36  # PR_SET_CHILD_SUBREAPER: what loses its parent comes to us, and is seen
    ctypes.CDLL(None).prctl(become_reaper, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    began, failed = time.time(), ""
    stage = Stage(case.agent, folder, os.environ["TEND"], os.environ["AGENTS_DIR"])
    try:
        case.play(stage)
    except Broken as broken:
        failed = str(broken)
    except SystemExit as ended:
        failed = str(ended)
    except Exception:
        failed = traceback.format_exc()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what follows cleans up
    left = stage.left()
    result = {"failed": failed, "left": left, "noticed": stage.noticed(), "done": stage.done(),
              "seconds": time.time() - began}
    with open(folder + "/result.json", "w") as f:
        json.dump(result, f)


if __name__ == "__main__":
    main()
