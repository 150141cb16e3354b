"""What the kernel knows of processes: the parts of /proc and of cgroup2 that the tests look at."""
import collections
import os
import signal


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode("utf-8", "replace")
    except OSError:
        return ""


def stat(pid):
    """The fields of /proc/PID/stat behind the name, `state` first; None if it is gone."""
    raw = read("/proc/%d/stat" % pid)
    return raw[raw.rindex(")") + 2 :].split() if ")" in raw else None


def command(pid):
    return read("/proc/%d/cmdline" % pid).replace("\0", " ").strip()


def runs(pid):
    fields = stat(pid)
    return fields is not None and fields[0] not in "ZX"


def by_parent():
    found = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := stat(int(name))):
            found[int(fields[1])].append(int(name))
    return found


def children(pid):
    """Also those that ended and were not waited for."""
    return by_parent()[pid]


def below(root):
    """The descendants of root that run."""
    kids, found, todo = by_parent(), [], [root]
    while todo:
        more = kids[todo.pop()]
        found += more
        todo += more
    return sorted(p for p in found if runs(p))


def end_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def own_cgroup():
    """A cgroup of our own with this process in it; None where the machine does not let us."""
    path = next((line[3:] for line in read("/proc/self/cgroup").splitlines()
                 if line.startswith("0::")), None)
    for line in read("/proc/self/mountinfo").splitlines():
        where, _, kind = line.partition(" - ")
        if path is None or not kind.startswith("cgroup2 "):
            continue
        group = where.split()[4] + path.rstrip("/") + "/agents-test-%d" % os.getpid()
        try:
            os.mkdir(group)
            with open(group + "/cgroup.procs", "w") as f:
                f.write("0")
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def leave_cgroup(group):
    """Goes back to where we came from; what is still below the group is returned, and removed."""
    with open(os.path.dirname(group) + "/cgroup.procs", "w") as f:
        f.write("0")
    left = [name for name in sorted(os.listdir(group)) if os.path.isdir(group + "/" + name)]
    for name in [group + "/" + name for name in left] + [group]:
        try:
            os.rmdir(name)
        except OSError:
            pass
    return left
