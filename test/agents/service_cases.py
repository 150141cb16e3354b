"""Claude Code with a beater beside each session, which its hooks start and end."""
import json
import os
import signal
import subprocess
import time

import processes
from casebook import case
from stage import check

DONE = {"text": "all done"}
PIDFILE = "memory/beat.pid"


class Beater:
    """The beater of the project, and the files that it beats into."""

    def __init__(self, stage):
        self.stage, self.memory = stage, stage.work + "/memory"
        os.makedirs(self.memory)
        self.write("agent-registry.json", {"version": "1.0.0", "agents": []})
        self.tend("hooks", "install", "claude", "--project", "--service", PIDFILE,
                  "--service-root", ".")

    def tend(self, *words):
        return subprocess.run([self.stage.tend, *words], env=self.stage.env, cwd=self.stage.work,
                              text=True, capture_output=True, check=True).stdout

    def write(self, name, content):
        path = "%s/%s" % (self.memory, name)
        self.stage.write(path + ".new", json.dumps(content))
        os.rename(path + ".new", path)  # whole: the beater reads meanwhile

    def register(self, pid):
        """The session of this process is the orchestrator, and leads."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        self.write("agent-registry.json", {"version": "1.0.0", "agents": [
            {"agent_id": "boss", "assigned_role": "orchestrator", "pid": pid, "started_at": now,
             "last_heartbeat": now, "status": "working"}]})
        self.write("orchestrator-state.json", {"leader_id": "boss", "leader_epoch": 1,
                                               "last_heartbeat": now, "ttl_ms": 180000})

    def status(self):
        done = subprocess.run([self.stage.tend, "service", "status", "--json", "--pidfile", PIDFILE],
                              env=self.stage.env, cwd=self.stage.work, text=True,
                              capture_output=True)
        return json.loads(done.stdout)

    def subject(self):
        """Whom it beats for; None while there is none."""
        status = self.status()
        return status["subject"]["pid"] if status["running"] else None


def until(stage, what, promise, seconds=40):
    """As Stage.until, when nothing is kept any more."""
    end = time.time() + seconds
    while not (found := what()):
        check(time.time() < end, "%s (waited %d s)" % (promise, seconds))
        stage.reap()
        time.sleep(0.05)
    return found


def waits(stage, mark):
    """An item of a script: a tool that runs until the test has looked."""
    return stage.tool("touch %s-began; while [ ! -e %s-end ]; do sleep 0.1; done" % (mark, mark))


def session(stage, prompt):
    """Claude Code as a person starts it, kept by nobody."""
    words = [w.replace("{prompt}", prompt) for w in stage.agent.command]
    return subprocess.Popen([*words, *stage.agent.free], cwd=stage.work, env=stage.env,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


@case("claude")
def service(stage):
    """Its hooks start a beater for the session, other sessions leave it alone, it ends with it."""
    beater = Beater(stage)
    stage.play({"SECOND": [DONE], "": [waits(stage, "first"), DONE]})
    stage.until_file("first-began")
    pid = stage.heartbeat()["pid"]
    stage.until(lambda: beater.subject() == pid, "the beater is bound to the session")
    number = beater.status()["pid"]
    beater.register(pid)
    stage.until(lambda: beater.status()["success"] > 0, "it beats for the session")
    second = session(stage, "SECOND: your part")
    until(stage, lambda: second.poll() is not None, "a second session ends")
    check(second.returncode == 0 and stage.requests("SECOND"), "it did its part")
    check(beater.status()["pid"] == number, "it left the beater of the first alone")
    check(beater.subject() == pid, "which is of the first as before")
    stage.write(stage.work + "/first-end", "")
    stage.finish(0)
    until(stage, lambda: not beater.status()["running"], "the beater ends with its session")
    check(not processes.runs(number), "its process is gone")
    check(not os.path.exists(stage.work + "/" + PIDFILE), "and its pid file")
    stage.check_left_alone()


@case("claude")
def service_killed(stage):
    """A session that nobody keeps is killed and runs no hook any more: its beater ends all the same."""
    beater = Beater(stage)
    stage.play({"SECOND": [waits(stage, "second"), DONE], "": [DONE]})
    stage.finish(0)
    until(stage, lambda: not beater.status()["running"], "the beater of the first session ended")
    second = session(stage, "SECOND: your part")
    until(stage, lambda: os.path.exists(stage.work + "/second-began"), "a tool runs")
    check(beater.subject() == second.pid, "the beater is bound to the session")
    beater.register(second.pid)
    until(stage, lambda: beater.status()["success"] > 0, "it beats for the session")
    stage.write(stage.work + "/second-end", "")
    os.kill(second.pid, signal.SIGKILL)
    second.wait()
    until(stage, lambda: not beater.status()["running"], "the beater ends with its session")
    check(beater.status()["ended_because"] == "process %d is gone" % second.pid, "and says why")
