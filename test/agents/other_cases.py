"""Codex, OpenCode and Gemini: what is special about each."""
import json

from agents import OPENCODE_CONFIG
from casebook import case
from stage import LIMITS, check

DONE = {"text": "all done"}


def doubted(stage):
    return [n for n in stage.notes() if "in doubt" in n]


@case("codex")
def left_running(stage):
    """A command outlives the turn that began it: codex ends it and itself, and that is an end."""
    stage.play([stage.tool("./tool 30", seconds=2), {"text": "left it running"}])
    stage.finish(0)
    stage.check_left_alone()
    check(stage.heartbeat()["outcome"] == "done", "its outcome is done")


@case("codex")
def given_up_500(stage):
    """Server errors that outlast codex's thirty tries: it ends, and is brought back."""
    stage.play([*[{"status": 500}] * 30, stage.tool("./tool 1"), DONE],
               limits={**LIMITS, "retry": "20s"})
    stage.finish(0, seconds=90)
    check("waiting" in stage.verdicts(), "it is seen waiting for the provider")
    check("kill" not in stage.actions(), "nobody ended it while it tried")
    check(stage.heard("turn-end")[0].get("error") == "overload", "the cause is heard")
    stage.check_resumed()


@case("opencode")
def rejected(stage):
    """A tool needs a permission and nobody is there: opencode ends without an answer, well."""
    config = {**OPENCODE_CONFIG, "permission": {"*": "ask"}}
    stage.write(stage.home + "/.config/opencode/opencode.json", json.dumps(config))
    stage.play([stage.tool("./tool 1"), DONE])
    stage.finish(0)
    check(stage.tool_log() == [], "the tool did not run")
    check(doubted(stage), "its end is doubted")


@case("opencode")
def long_tool(stage):
    """A tool of which the stream says nothing until it is over, within the limit."""
    stage.play([stage.tool("./tool 12"), DONE], limits={"model": "20s", "confirm": "3s"})
    stage.finish(0)
    stage.check_left_alone()
    check(stage.tool_log() == ["begin", "end"], "the tool ran to its end")


@case("opencode")
def subagent(stage):
    """A sub-agent and its tool, of which the stream says nothing."""
    part = {"tool": "task", "input": {"description": "a part", "prompt": "ALPHA: your part",
                                      "subagent_type": "general"}}
    stage.play({"ALPHA": [stage.tool("./tool 5"), {"text": "part finished"}], "": [part, DONE]},
               limits={"model": "20s", "confirm": "3s"})
    stage.finish(0)
    stage.check_left_alone()
    check(stage.tool_log() == ["begin", "end"], "its tool ran to its end")


@case("gemini")
def dropped(stage):
    """A broken connection is the end of gemini: it is brought back."""
    stage.play([stage.tool("./tool 1"), {"drop": "mid", "text": "this will be cut"}, DONE],
               limits={**LIMITS, "retry": "4s"})
    stage.finish(0)
    check("waiting" in stage.verdicts(), "it is taken for the provider's fault")
    check(stage.tool_log() == ["begin", "end"], "the tool ran once")
    stage.check_resumed()


@case("gemini")
def without_shell(stage):
    """Without --yolo gemini has no shell at all: it goes on without, and its end is doubted."""
    stage.play([stage.tool("./tool 1"), DONE], free=False)
    stage.finish(0)
    check(stage.tool_log() == [], "the tool did not run")
    check(doubted(stage), "its end is doubted")
