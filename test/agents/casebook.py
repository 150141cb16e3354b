"""The cases, by name: "claude hang-mid". Each is a function of a Stage, for one agent or several;
its first line says what it shows."""


class Case:
    def __init__(self, agent, play):
        self.agent, self.play = agent, play
        self.name = "%s %s" % (agent, play.__name__.replace("_", "-"))


CASES = {}


def case(*agents):
    """Makes a function a case of each of these agents."""

    def enter(play):
        for agent in agents:
            made = Case(agent, play)
            CASES[made.name] = made
        return play

    return enter


def all_cases():
    import claude_cases  # noqa: F401  they enter themselves
    import common_cases  # noqa: F401
    import gate_cases  # noqa: F401
    import other_cases  # noqa: F401
    import service_cases  # noqa: F401
    import tree_cases  # noqa: F401

    return CASES
