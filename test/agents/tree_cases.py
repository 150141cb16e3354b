"""Claude Code as a lead: it dispatches others from its tools, and is told what became of them."""
import signal

import processes
from casebook import case
from stage import LIMITS, PROMPT, check

DONE = {"text": "all done"}


def dispatched(stage, agent, script):
    """A tool that dispatches a shell script in a work tree of its own."""
    return stage.tool("tend dispatch --role coding --name %s --worktree new -- sh -c '%s'"
                      % (agent, script))


def check_is_child(stage, agent):
    check(stage.heartbeat(agent)["parent_heartbeat"] == stage.folder_of() + "/.heartbeat",
          "%s is a child of lead" % agent)
    check(stage.folder_of(agent).startswith(stage.folder_of() + "/coding/"),
          "its folder is below that of lead")


@case("claude")
def dispatch(stage):
    """A worker is dispatched in one tool and awaited in another, longer than a tool may be silent."""
    stage.play([dispatched(stage, "coder", "sleep 12; echo code >made"),
                stage.tool("tend wait coder && tend merge coder", seconds=30), DONE],
               limits={**LIMITS, "tool": "4s"})
    stage.finish(0)
    stage.check_left_alone()
    check_is_child(stage, "coder")
    check("suspect" not in stage.verdicts(), "it is not even suspect while its child works")
    check(stage.git("show", "HEAD:made") == "code\n", "the child's work is merged")
    check(stage.git("log", "--merges", "--format=%s").startswith("Merge the work of coder"),
          "by a merge commit")


@case("claude")
def dispatch_news(stage):
    """A lead that hangs is resumed, and is told what its child did meanwhile."""
    stage.play([dispatched(stage, "coder", "sleep 1; echo code >made"),
                {"hang": "mid", "text": "I begin to think and"}, DONE])
    stage.finish(0)
    check_is_child(stage, "coder")
    stage.check_resumed()
    told = [n for n in stage.requests() if "You were interrupted" in n["said"]]
    check("coder (coding) finished" in told[0]["said"], "the model is told what its child did")
    check(stage.git("show", "HEAD:made") == "code\n", "its work was merged while nobody worked there")
    check(PROMPT in told[0]["said"], "in the same conversation")


@case("claude")
def dispatch_outlives(stage):
    """The child lives on when the tool, the lead and the keeper of the lead are killed."""
    stage.play([dispatched(stage, "coder", "sleep 8; echo code >made"),
                stage.tool("tend wait coder", seconds=60), DONE, DONE])
    stage.until(lambda: stage.heartbeat("coder").get("status") == "running", "coder runs")
    coder = stage.heartbeat("coder")["pid"]
    lead = stage.heartbeat()
    stage.signal(lead["keeper_pid"], signal.SIGKILL)
    stage.signal(lead["pid"], signal.SIGKILL)
    stage.until(lambda: stage.heartbeat().get("life") == 2, "lead is resumed")
    check(processes.runs(coder), "coder works on")
    stage.finish(0)
    check(stage.heartbeat("coder")["life"] == 1, "coder has one life")
    check(stage.git("show", "HEAD:made") == "code\n", "its work is merged")
