"""Claude Code that is asked whether it answers, and written to: on its input, and in a terminal."""
import json
import os
import subprocess
import time

from casebook import case
from stage import check

OBEY = {"obey": True}
COMMAND = ["claude", "-p", "--input-format", "stream-json"]
TIMES = 'interval = "2s"\ndeadline = "4s"\n'
LIMITS = {"model": "5s", "confirm": "3s", "start": "30s"}

# Claude Code in a terminal that is gone when it is.
TERMINAL = """#!/bin/sh
tmux -f /dev/null new-session -d -x 200 -y 50 -s lead "exec claude --dangerously-skip-permissions"
while tmux has-session -t lead 2>/dev/null; do sleep 0.2; done
exit 1
"""

# How a sender is answered: a line in a file.
REPLY = """#!/bin/sh
echo "$TEND_GATE $1" >>"$(dirname "$0")/replies"
"""


class Senders:
    """People who write to the agent, and what they hear of it."""

    def __init__(self, stage):
        self.stage, self.sent, self.actions = stage, 0, []
        stage.write(stage.folder + "/bin/reply", REPLY)
        os.chmod(stage.folder + "/bin/reply", 0o755)

    def tend(self, *words):
        done = subprocess.run([self.stage.tend, *words], env=self.stage.env, cwd=self.stage.work,
                              text=True, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def send(self, who="ann", words=""):
        text = "message number %d. %s" % (self.sent, words)
        code, out, err = self.tend("gate", "receive", "--agent", "lead", "--channel", "chat",
                                   "--endpoint", who, "--idempotency-key", "k%d" % self.sent,
                                   "--json", "--content", text, "--",
                                   self.stage.folder + "/bin/reply", "{endpoint}")
        check(code == 0, "the message is received: " + err + out)
        self.sent += 1
        time.sleep(0.5)  # a person writes that fast
        self.actions.append(json.loads(out)["action"])
        return self.actions[-1]

    def in_state(self, state):
        out = self.tend("gate", "list", "--agent", "lead", "--state", state, "--json")[1]
        return [json.loads(line) for line in out.splitlines()]

    def replies(self, words):
        path = self.stage.folder + "/bin/replies"
        lines = open(path).read().splitlines() if os.path.exists(path) else []
        return lines.count(words)


def configure(stage, more):
    os.makedirs(stage.tend_home, mode=0o700, exist_ok=True)
    stage.write(stage.tend_home + "/config.toml", "[probe.lead]\n" + TIMES + more)


def answers(stage):
    return stage.heard("ack")


def end(stage, senders):
    """It would be there for ever."""
    check(senders.tend("stop", "lead")[0] == 0, "it is stopped")
    stop = time.time() + 30
    while stage.viewer.poll() is None:
        check(time.time() < stop, "tend run ends")
        stage.reap()
        time.sleep(0.05)


def held(stage):
    """An item of a script: it obeys, but not before the outage was looked at."""
    return {"after": stage.folder + "/go-on", **OBEY}


def hangs_once(stage):
    return {"HANGNOW": [{"hang": "before"}, held(stage)], "": [OBEY]}


def outage(stage, senders):
    """It hangs, senders are told, it is begun again, answers, and everybody hears that it is over."""
    stage.until(lambda: answers(stage), "it answers its first question", 60)
    for _ in range(3):
        check(senders.send() == "queued", "a message for one that is well is queued")
    stage.until(lambda: len(senders.in_state("done")) == 3, "they are handed over", 60)
    senders.send(words="HANGNOW")  # the model takes it and is silent from then on
    stage.until(lambda: stage.requests("HANGNOW"), "it is told to", 60)
    stage.model.script.queues[""] = [held(stage)]  # a new life may have a conversation of its own
    stage.until(lambda: senders.send(who="bob") == "auto-replied", "a sender is told", 60)
    check("degraded" in stage.heartbeat(), "its keeper says that it is down")
    senders.send(who="eve")
    check(senders.replies("auto-reply bob") == 1, "once")
    stage.write(held(stage)["after"], "")
    stage.until(lambda: stage.heartbeat().get("life", 1) > 1, "it is begun again", 60)
    while "degraded" in stage.heartbeat():
        senders.send(who="bob")
        stage.until(lambda: True, "")
    check(senders.send(who="bob") == "queued", "it takes messages again")
    stage.until(lambda: len(senders.in_state("done")) == senders.sent,
                "all %d messages are done" % senders.sent, 300)
    check(not senders.in_state("held") and not senders.in_state("dead"), "none is left")
    said = "".join(n["said"] for n in stage.model.notes if "req" in n)
    missing = [i for i in range(senders.sent) if "message number %d." % i not in said]
    check(not missing, "the model saw every message, but not %s" % missing)
    for who in ("bob", "eve"):
        stage.until(lambda: senders.replies("all-clear " + who) == 1, "%s hears it is over" % who)
        check(senders.replies("auto-reply " + who) == 1, "%s was told once" % who)
    check(senders.replies("all-clear ann") == 0, "who was not told of it hears nothing")
    fresh = [a for a in answers(stage) if a["id"].startswith("%d-" % stage.heartbeat()["life"])]
    check(fresh, "the new life has answered")
    end(stage, senders)


@case("claude")
def probe(stage):
    """An idle session is asked on its input, answers by running a line, and is left alone."""
    configure(stage, 'channel = "stdin-stream"\n')
    senders = Senders(stage)
    stage.play([OBEY], command=COMMAND, limits=LIMITS)
    stage.until(lambda: len(answers(stage)) >= 3, "it answers three questions", 60)
    check(stage.heartbeat()["life"] == 1, "it is not ended")
    check("degraded" not in stage.heartbeat(), "it is well")
    end(stage, senders)


@case("claude")
def probe_hang(stage):
    """An idle session that does not answer is ended and taken up again."""
    configure(stage, 'channel = "stdin-stream"\n')
    senders = Senders(stage)
    stage.play([OBEY], command=COMMAND, limits=LIMITS)
    stage.until(lambda: answers(stage), "it answers its first question", 60)
    stage.until(lambda: stage.verdicts()[-1:] == ["idle"], "it is idle")
    pid = stage.heartbeat()["pid"]
    stage.model.script.queues[""] = [{"hang": "before"}]  # it reads the question, and is silent
    stage.until(lambda: stage.heartbeat()["pid"] != pid, "it is ended", 60)
    stage.model.script.queues[""] = [OBEY]
    stage.until(lambda: "degraded" not in stage.heartbeat() and stage.heartbeat()["life"] > 1,
                "the next life answers", 60)
    end(stage, senders)


@case("claude")
def gate_outage(stage):
    """A whole outage, with messages all the while, on its input."""
    configure(stage, 'channel = "stdin-stream"\ndeliver = true\n')
    senders = Senders(stage)
    stage.play(hangs_once(stage), command=COMMAND, limits=LIMITS)
    outage(stage, senders)


@case("claude")
def gate_outage_tmux(stage):
    """The same in a terminal: it is typed to, and heard by its hooks."""
    configure(stage, 'channel = "tmux-keys"\ntarget = "lead"\ndeliver = true\n')
    senders = Senders(stage)
    subprocess.run([stage.tend, "hooks", "install", "claude"], env=stage.env, check=True,
                   stdout=subprocess.DEVNULL)
    stage.write(stage.folder + "/bin/terminal", TERMINAL)
    os.chmod(stage.folder + "/bin/terminal", 0o755)
    settings = stage.home + "/.claude.json"
    known = json.load(open(settings)) if os.path.exists(settings) else {}
    known.update({"hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
                  "customApiKeyResponses": {"approved": ["fake-key"], "rejected": []},
                  "projects": {stage.work: {"hasTrustDialogAccepted": True}}})
    stage.write(settings, json.dumps(known))
    stage.env.update({"TMUX_TMPDIR": stage.home + "/tmp", "TERM": "xterm-256color"})
    stage.play(hangs_once(stage), free=False,
               command=[stage.folder + "/bin/terminal"], limits=LIMITS,
               options=["--adapter", "none", "--policy", "agent", "--restart", "on-failure"])
    outage(stage, senders)
