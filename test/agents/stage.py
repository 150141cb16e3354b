"""Where one case is played: a throw-away HOME and work tree, the scripted model, `tend run` with a
real agent, the faults that are done to them, and the evidence of what became of it.

A case (casebook.py) is a function that is given a Stage. What it promises it says with `check`.
"""
import json
import os
import shutil
import subprocess
import threading
import time

import processes
from agents import AGENTS, PORT
from mockllm import Model

# Patience in seconds, small enough for a test. A case may say otherwise.
LIMITS = {"model": "5s", "confirm": "3s"}
TROUBLE = ("suspect", "stalled", "dead", "orphaned", "looping", "waiting")
ROUTINE = ("warn", "ping", "degrade", "undegrade")  # actions that only say something
PROMPT = "do the work"

# A tool that would tell if it ran beside itself: ./tool SECONDS
TOOL = """#!/bin/sh
exec 9>lock
flock -n 9 || echo twice >>tool.log
echo begin >>tool.log
sleep "$1"
echo end >>tool.log
"""


class Broken(Exception):
    """A promise that was not kept."""


def check(kept, promise):
    if not kept:
        raise Broken(promise)


def json_lines(path):
    """What can be read of a file of JSON lines; the last may still be on its way."""
    out = []
    for line in processes.read(path).splitlines():
        try:
            out.append(json.loads(line))
        except ValueError:
            continue
    return out


class Stage:
    def __init__(self, agent, folder, tend, agents_folder):
        self.name, self.agent, self.folder = agent, AGENTS[agent], folder
        self.home, self.work = folder + "/home", folder + "/work"
        self.tend_home = folder + "/tend"
        self.tend, self.agents_folder = tend, agents_folder
        self.viewer, self.model, self.fault_at = None, None, None
        self.group = processes.own_cgroup()
        self.prepare()

    # --- Before -----------------------------------------------------------------------------------

    def prepare(self):
        for name in (self.home, self.home + "/tmp", self.work, self.folder + "/bin"):
            os.makedirs(name)
        os.symlink(self.tend, self.folder + "/bin/tend")
        for name, text in self.agent.files.items():
            self.write(os.path.join(self.home, name), text)
        node = os.path.dirname(shutil.which("node"))
        self.env = {
            "PATH": ":".join([self.folder + "/bin", self.agents_folder + "/node_modules/.bin", node,
                              "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]),
            "HOME": self.home, "TMPDIR": self.home + "/tmp", "TEND_HOME": self.tend_home,
            "LANG": "C.UTF-8", "TERM": "dumb", "GIT_CONFIG_NOSYSTEM": "1", "CI": "1",
            "CLAUDE_CODE_TMPDIR": self.home + "/tmp", "CODEX_HOME": self.home + "/.codex",
            **self.agent.env,
        }
        self.write(self.work + "/tool", TOOL)
        os.chmod(self.work + "/tool", 0o755)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("-c", "user.name=user", "-c", "user.email=user@example.invalid",
                 "commit", "-qm", "start")

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def git(self, *words):
        done = subprocess.run(["git", "-C", self.work, *words], env=self.env, text=True,
                              capture_output=True)
        check(done.returncode == 0, "git %s: %s" % (words[0], done.stderr.strip()))
        return done.stdout

    def tool(self, command, seconds=60):
        """An item of a script that runs a shell command."""
        return self.agent.tool(command, seconds)

    # --- The play ---------------------------------------------------------------------------------

    def play(self, script, *more, limits=LIMITS, options=(), free=True, command=None, stdin=None,
             env={}):
        """Starts the model and `tend run --name lead -- AGENT...`; returns at once."""
        log = open(self.folder + "/api.jsonl", "w")
        self.model = Model(script, PORT, log)
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        words = [w.replace("{prompt}", PROMPT) for w in command or self.agent.command]
        words += (self.agent.free if free else []) + list(more)
        call = [self.tend, "run", "--name", "lead"]
        for name, value in limits.items():
            call += ["--limit", "%s=%s" % (name, value)]
        self.began = time.time()
        with open(self.folder + "/stdout", "wb") as out, open(self.folder + "/stderr", "wb") as err:
            self.viewer = subprocess.Popen(
                [*call, *options, "--", *words], cwd=self.work, env={**self.env, **env},
                stdin=subprocess.DEVNULL if stdin is None else stdin, stdout=out, stderr=err,
                start_new_session=True)

    def until(self, what, promise, seconds=40):
        """Waits for what() to be true, and returns it."""
        end = time.time() + seconds
        while not (found := what()):
            check(time.time() < end, "%s (waited %d s)" % (promise, seconds))
            check(self.viewer.poll() is None or what(),
                  "%s (tend run ended with %s)" % (promise, self.viewer.returncode))
            self.reap()
            time.sleep(0.05)
        return found

    def until_file(self, name, seconds=40):
        """Waits until a tool made this file in the work tree."""
        path = os.path.join(self.work, name)
        self.until(lambda: os.path.exists(path), "a tool made " + name, seconds)

    def finish(self, code=0, seconds=60):
        """Waits until `tend run` is over, and checks its exit status."""
        end = time.time() + seconds
        while self.viewer.poll() is None:
            check(time.time() < end, "tend run ends (waited %d s)" % seconds)
            self.reap()
            time.sleep(0.05)
        ended = self.viewer.returncode
        check(ended == code, "tend run ends with %d, not %d" % (code, ended))

    def signal(self, pid, sig):
        """A fault from outside."""
        self.fault_at = self.fault_at or time.time()
        check(processes.runs(pid), "process %d is there to be signalled" % pid)
        os.kill(pid, sig)

    # --- What is seen -----------------------------------------------------------------------------

    def folder_of(self, agent="lead"):
        """Where tend keeps this agent's files; None before it is there."""
        for folder, _, files in os.walk(self.tend_home):
            if "agent.json" in files and self.json_in(folder, "agent.json").get("agent") == agent:
                return folder
        return None

    def json_in(self, folder, name):
        try:
            return json.loads(processes.read(os.path.join(folder, name)))
        except ValueError:
            return {}

    def heartbeat(self, agent="lead"):
        return self.json_in(self.folder_of(agent) or "", ".heartbeat")

    def spec(self, agent="lead"):
        return self.json_in(self.folder_of(agent) or "", "agent.json")

    def journal(self, agent="lead"):
        return json_lines((self.folder_of(agent) or "") + "/journal.jsonl")

    def heard(self, kind, agent="lead"):
        """The signals of this kind in the journal."""
        return [line for line in self.journal(agent) if line.get("is") == kind]

    def events(self, kind, agent="lead"):
        return [e for e in json_lines(self.tend_home + "/events.jsonl")
                if e.get("kind") == kind and e.get("agent") == agent]

    def verdicts(self, agent="lead"):
        return [e["verdict"] for e in self.events("verdict", agent)]

    def actions(self, agent="lead"):
        return [e["action"] for e in self.events("action", agent) if e["action"] not in ROUTINE]

    def notes(self, agent="lead"):
        return [json.dumps(e, ensure_ascii=False) for e in self.events("note", agent)]

    def requests(self, route=""):
        """What the model was asked by the lead, or by the conversation with this mark."""
        return [n for n in list(self.model.notes) if "req" in n and n["route"] == route]

    def stream(self):
        return json_lines(self.folder + "/stdout")

    def sessions(self):
        """The names that the agent gave its session, in their order."""
        ids = [line.get("session_id") or line.get("thread_id") or line.get("sessionID")
               for line in self.stream() if isinstance(line, dict)]
        return list(dict.fromkeys(i for i in ids if i))

    def tool_log(self):
        return processes.read(self.work + "/tool.log").split()

    # --- What many cases promise ------------------------------------------------------------------

    def check_finished(self):
        """The heartbeat knows first; what people follow is written a moment later."""
        end = time.time() + 10
        while self.verdicts()[-1:] != ["finished"]:
            check(time.time() < end, "it is finished")
            time.sleep(0.05)

    def check_left_alone(self):
        """Nobody ended it, nobody began it anew."""
        check(self.heartbeat().get("life") == 1, "there is one life")
        acted = [a for a in self.actions() if a in ("preserve", "kill", "resume", "escalate")]
        check(not acted, "nothing is done to it, but: " + ", ".join(acted))
        judged = [v for v in self.verdicts() if v in ("stalled", "dead", "looping")]
        check(not judged, "it is never taken for worse than suspect, but: " + ", ".join(judged))
        self.check_finished()

    def check_resumed(self, life=2):
        """It was brought back in its own session, was told so, and finished."""
        check(self.heartbeat().get("life") == life, "it finished in life %d" % life)
        check("resume" in self.actions(), "it was resumed")
        check(len(self.sessions()) == 1, "it stays in one session: %s" % self.sessions())
        told = [n for n in self.requests() if "You were interrupted" in n["said"]]
        check(told, "the model is told that it was interrupted")
        check(PROMPT in told[0]["said"], "the model sees what was said before")
        self.check_finished()

    def check_saved(self, name, text):
        """What was not committed is in the commit that was made before anything was done to it."""
        check(self.git("show", "refs/tend/lead/1:" + name) == text, "%s was saved" % name)

    # --- After ------------------------------------------------------------------------------------

    def left(self):
        """What outlived the case; whatever it is, it is ended and removed."""
        end = time.time() + 3
        me = os.getpid()
        while (alive := processes.below(me)) and time.time() < end:
            self.reap()
            time.sleep(0.1)
        found = ["process %d (%.80s)" % (p, processes.command(p)) for p in alive]
        while alive := processes.below(me):
            processes.end_all(alive)
            time.sleep(0.1)
            self.reap()
        if self.group:
            found += ["cgroup " + name for name in processes.leave_cgroup(self.group)]
        for folder, _, files in os.walk(self.work + "/.git"):
            found += ["file %s/%s" % (folder, f) for f in files if f.startswith("tend-")]
        return found

    def reap(self):
        """Takes leave of orphans that ended, as init would."""
        for pid in processes.children(os.getpid()):
            if pid != self.viewer.pid and not processes.runs(pid):
                os.waitpid(pid, os.WNOHANG)

    def noticed(self):
        """The first verdict of trouble, and how long after the fault it came."""
        fault = self.fault_at
        if self.model and fault is None:
            fault = next((n["at"] for n in self.model.notes if "req" in n and
                          {"status", "hang", "drop"} & set(n["item"])), None)
        for e in self.events("verdict"):
            if e["verdict"] in TROUBLE:
                after = "" if fault is None else ", %.1f s" % max(0, e["at"] - fault)
                return "%s (%s)%s" % (e["verdict"], e["phase"], after)
        return "-"

    def done(self):
        actions = self.actions()
        return ", ".join(dict.fromkeys(actions)) or "-"
