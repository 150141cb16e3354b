"""What has to hold for every agent: a normal run, a model that hangs, a death in mid tool."""
import signal
import time

from casebook import case
from stage import LIMITS, check

EVERY = ("claude", "codex", "opencode", "gemini")
DONE = {"text": "all done"}
HALF = {"text": "I begin to think and"}
# opencode is silent while a tool runs and until the model begins, so a test has to be patient.
PATIENT = {"claude": LIMITS, "codex": LIMITS, "opencode": {**LIMITS, "model": "12s"},
           "gemini": LIMITS}


def limits_of(stage):
    return PATIENT[stage.name]


@case(*EVERY)
def normal(stage):
    """Work is done, and nobody interferes."""
    stage.play([stage.tool("./tool 1"), DONE])
    stage.finish(0)
    stage.check_left_alone()
    check(stage.spec()["adapter"] == stage.name, "its language was found out")
    check(stage.spec()["policy"] == "agent", "it is judged as an agent")
    check(stage.tool_log() == ["begin", "end"], "the tool ran once")
    check(not [n for n in stage.notes() if "in doubt" in n], "its end is not doubted")
    check(stage.heartbeat()["outcome"] == "done", "its outcome is done")


def hang(stage, how):
    """Uncommitted work, then a model that stops; afterwards all is well again."""
    stage.play([stage.tool("echo half >made"), {"hang": how, **HALF}, DONE],
               limits=limits_of(stage))
    stage.finish(0)
    seen = stage.verdicts()
    check("suspect" in seen and "stalled" in seen, "it is found stalled: " + ", ".join(seen))
    for action in ("preserve", "kill", "resume"):
        check(action in stage.actions(), "it was not forgotten to " + action)
    stage.check_saved("made", "half\n")
    stage.check_resumed()


@case(*EVERY)
def hang_before(stage):
    """The model takes the request and never sends a byte."""
    hang(stage, "before")


@case(*EVERY)
def hang_mid(stage):
    """The model stops in mid answer."""
    hang(stage, "mid")


@case(*EVERY)
def kill_tool(stage):
    """Killed in mid tool: the orphaned tool is ended before the same is run again."""
    stage.play([stage.tool("./tool 30"), stage.tool("./tool 1"), DONE], limits=limits_of(stage))
    stage.until_file("tool.log")
    time.sleep(1)
    stage.signal(stage.heartbeat()["pid"], signal.SIGKILL)
    stage.finish(0)
    check("dead" in stage.verdicts(), "its death is seen")
    check(stage.tool_log() == ["begin", "begin", "end"],
          "the tool ran twice and never at the same time: %s" % stage.tool_log())
    stage.check_resumed()
