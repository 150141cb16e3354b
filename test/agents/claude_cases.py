"""Claude Code: what its model, its tools, its sub-agents and its keeper can do to it."""
import os
import shutil
import signal
import subprocess
import time

import processes
from casebook import case
from stage import LIMITS, PROMPT, check

DONE = {"text": "all done"}
# It gives up after the first try, so that a test need not wait for its ten.
HASTY = {"CLAUDE_CODE_MAX_RETRIES": "0"}


def sub_agent(mark, **more):
    return {"tool": "Agent", "input": {"description": "a part", "prompt": mark + ": your part",
                                       "subagent_type": "general-purpose", **more}}


def texts_of(stage):
    """What its turns ended with."""
    return [line.get("result") for line in stage.stream() if line.get("type") == "result"]


@case("claude")
def long_tool(stage):
    """A tool is silent for longer than the model may be, within the time that it declared."""
    stage.play([stage.tool("./tool 14", seconds=30), DONE], limits={**LIMITS, "tool": "4s"})
    stage.finish(0)
    stage.check_left_alone()
    check("suspect" not in stage.verdicts(), "it is not even suspect")
    check(stage.tool_log() == ["begin", "end"], "the tool ran to its end")


@case("claude")
def subagent(stage):
    """A sub-agent works while its lead is silent."""
    stage.play({"ALPHA": [stage.tool("./tool 7"), {"text": "part finished"}],
                "": [sub_agent("ALPHA"), DONE]})
    stage.finish(0)
    stage.check_left_alone()
    check(len(stage.requests("ALPHA")) == 2, "the sub-agent had its two answers")
    check(stage.tool_log() == ["begin", "end"], "its tool ran to its end")


@case("claude")
def nested(stage):
    """A sub-agent has one of its own, of which the stream says next to nothing."""
    stage.play({"BETA": [stage.tool("./tool 7"), {"text": "inner finished"}],
                "ALPHA": [sub_agent("BETA"), {"text": "outer finished"}],
                "": [sub_agent("ALPHA"), DONE]})
    stage.finish(0)
    stage.check_left_alone()
    check(stage.tool_log() == ["begin", "end"], "the innermost tool ran to its end")


@case("claude")
def background(stage):
    """A command runs on in the background after the turn is over, and begins a second turn."""
    call = stage.tool("./tool 4")
    call["input"]["run_in_background"] = True
    stage.play([call, {"text": "started it"}, {"text": "saw its end"}])
    stage.finish(0)
    stage.check_left_alone()
    check(texts_of(stage) == ["started it", "saw its end"], "both turns came to their end")
    check(stage.tool_log() == ["begin", "end"], "the command ran to its end")


@case("claude")
def overload_529(stage):
    """An overloaded model: claude tries again by itself, and is left alone."""
    stage.play([{"status": 529}, {"status": 529}, stage.tool("./tool 1"), DONE])
    stage.finish(0)
    stage.check_left_alone()
    check("waiting" in stage.verdicts(), "it is seen waiting for the provider")
    check([r["cause"] for r in stage.heard("retry")] == ["overload"] * 2, "both retries are heard")


@case("claude")
def limit_429_short(stage):
    """A rate limit that claude waits for, longer than the model may be silent."""
    stage.play([{"status": 429, "retry_after": 11}, stage.tool("./tool 1"), DONE])
    stage.finish(0)
    stage.check_left_alone()
    check("waiting" in stage.verdicts(), "it is seen waiting for the provider")
    check("suspect" not in stage.verdicts(), "it is not even suspect")
    check(stage.heard("retry")[0]["cause"] == "rate", "the cause is heard")


def gives_up(stage, fault, cause, env={}):
    """claude ends itself for a fault of the provider; it is brought back when that has passed."""
    stage.play([fault, stage.tool("./tool 1"), DONE], limits={**LIMITS, "retry": "4s"}, env=env)
    stage.finish(0)
    check("waiting" in stage.verdicts(), "it is seen waiting for the provider")
    check(stage.heard("turn-end")[0].get("error") == cause, "the cause is heard")
    check(stage.heartbeat()["budget"]["spent"] == 0, "the provider's fault spends no budget")
    pause = stage.requests()[1]["at"] - stage.requests()[0]["at"]
    check(pause > 3.5, "it is not brought back before its time (%.1f s)" % pause)
    stage.check_resumed()


@case("claude")
def limit_429_long(stage):
    """A rate limit for which claude does not wait: it ends, tend waits and brings it back."""
    gives_up(stage, {"status": 429, "retry_after": 90}, "rate")


@case("claude")
def given_up_529(stage):
    """An overload that outlasts all of claude's tries."""
    gives_up(stage, {"status": 529}, "overload", HASTY)


@case("claude")
def given_up_500(stage):
    """Server errors that outlast all of claude's tries."""
    gives_up(stage, {"status": 500}, "overload", HASTY)


@case("claude")
def errors_500(stage):
    """Server errors for a while: claude tries again by itself, and is left alone."""
    stage.play([{"status": 500}, {"status": 500}, {"status": 500}, stage.tool("./tool 1"), DONE])
    stage.finish(0)
    stage.check_left_alone()
    check("waiting" in stage.verdicts(), "it is seen waiting for the provider")


@case("claude")
def hang_ping(stage):
    """The model stops in mid answer, but its connection goes on to say that it is alive."""
    stage.play([stage.tool("echo half >made"),
                {"hang": "mid", "ping": 1, "text": "I begin to think and"}, DONE])
    stage.finish(0)
    check("stalled" in stage.verdicts(), "pings are not taken for progress")
    stage.check_saved("made", "half\n")
    stage.check_resumed()


@case("claude")
def dropped(stage):
    """The connection breaks in mid answer: claude asks again by itself."""
    stage.play([{"drop": "mid", "text": "this will be cut"}, stage.tool("./tool 1"), DONE])
    stage.finish(0)
    stage.check_left_alone()


@case("claude")
def stopped(stage):
    """SIGSTOP for 10 s, then SIGCONT: it is said, and nothing is done."""
    stage.play([{"delay": 3, **stage.tool("./tool 1")}, DONE], limits={**LIMITS, "model": "30s"})
    stage.until(stage.requests, "the model is asked")
    pid = stage.heartbeat()["pid"]
    stage.signal(pid, signal.SIGSTOP)
    time.sleep(10)
    check(processes.runs(pid) and processes.stat(pid)[0] == "T", "it is still there, and stopped")
    stage.signal(pid, signal.SIGCONT)
    stage.finish(0)
    stage.check_left_alone()
    check("suspect" in stage.verdicts(), "somebody noticed")


@case("claude")
def permission(stage):
    """A tool needs a permission and nobody is there: claude goes on without, tend says so."""
    stage.play([stage.tool("./tool 1"), DONE], free=False)
    stage.finish(0)
    stage.check_left_alone()
    check(stage.tool_log() == [], "the tool did not run")
    check([n for n in stage.notes() if "in doubt" in n and "denied" in n], "its end is doubted")
    check("denied" in stage.heartbeat()["note"], "and the status shows it")


@case("claude")
def open_input(stage):
    """Standard input is held open and says nothing: the agent is not kept waiting for it."""
    ours, theirs = os.pipe()
    stage.play([stage.tool("./tool 1"), DONE], stdin=ours)
    stage.until(stage.requests, "the model is asked")
    given = os.readlink("/proc/%d/fd/0" % stage.heartbeat()["pid"])
    stage.finish(0)
    os.close(theirs)
    os.close(ours)
    check(given == "/dev/null", "its input is /dev/null, not " + given)
    stage.check_left_alone()


@case("claude")
def unknown_session(stage):
    """Its session is gone when it has to be resumed: it is begun anew, and that is said."""
    stage.play([stage.tool("./tool 30"), stage.tool("./tool 1"), DONE])
    stage.until_file("tool.log")
    time.sleep(1)
    pid = stage.heartbeat()["pid"]
    stage.signal(pid, signal.SIGSTOP)  # so that it writes nothing again
    shutil.rmtree(stage.home + "/.claude/projects")
    stage.signal(pid, signal.SIGKILL)
    stage.finish(0)
    check([n for n in stage.notes() if "begun anew" in n], "it is said that it was begun anew")
    check(len(set(stage.sessions())) >= 2, "it has another session: %s" % stage.sessions())
    check(PROMPT in stage.requests()[1]["said"], "it has its first order again")
    check(stage.tool_log() == ["begin", "begin", "end"], "the tool never ran twice at once")
    stage.check_finished()


@case("claude")
def tree(stage):
    """Two real agents: the lead's tool runs `tend run -- claude`, each has a keeper of its own."""
    child = ("tend run --name child --limit model=5s --limit confirm=3s -- "
             "claude -p 'BETA: your part' --dangerously-skip-permissions >child.jsonl")
    stage.play({"BETA": [stage.tool("./tool 8"), {"text": "part finished"}],
                "": [stage.tool(child), DONE]})
    stage.finish(0)
    stage.check_left_alone()
    check(stage.heartbeat("child")["keeper_pid"] != stage.heartbeat()["keeper_pid"],
          "each has a keeper of its own")
    check(stage.verdicts("child")[-1] == "finished", "the child is finished")
    check(stage.heartbeat("child")["outcome"] == "done", "and its outcome is done")
    check(not stage.actions("child"), "nothing was done to the child")
    check(stage.tool_log() == ["begin", "end"], "the child's tool ran once")


@case("claude")
def keeper_killed(stage):
    """The keeper is killed in mid tool: the agent notices nothing, a successor hears its result."""
    stage.play([stage.tool("./tool 7"), DONE])
    stage.until_file("tool.log")
    before = stage.heartbeat()
    stage.signal(before["keeper_pid"], signal.SIGKILL)
    stage.until(lambda: stage.heartbeat().get("keeper_pid") not in (None, before["keeper_pid"]),
                "there is a new keeper")
    check(stage.heartbeat()["pid"] == before["pid"] and processes.runs(before["pid"]),
          "the agent is untouched")
    stage.finish(0)
    stage.check_left_alone()
    check(stage.tool_log() == ["begin", "end"], "the tool ran once")
    check(stage.heartbeat()["outcome"] == "done", "the result was heard")


@case("claude")
def hooks(stage):
    """Nothing of its stream is heard: what its hooks say is enough to judge it by."""
    subprocess.run([stage.tend, "hooks", "install", "claude"], env=stage.env, check=True,
                   stdout=subprocess.DEVNULL)
    stage.play([stage.tool("./tool 8"), DONE], limits={**LIMITS, "start": "30s"},
               options=["--as-is", "--adapter", "none", "--policy", "agent"])
    stage.finish(0)
    stage.check_left_alone()
    check(len(stage.heard("turn-start")) == 1, "its hooks told that the turn began")
    check(len(stage.heard("tool-open")) == 1, "its hooks told of the tool")
    check(len(stage.heard("tool-close")) == 1, "its hooks told of the tool's end")
    check(len(stage.heard("turn-end")) == 1, "its hooks told that the turn is over")
