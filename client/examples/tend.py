"""A thin wrapper of libtend for Python: copy it beside your program.

    import tend

    with tend.Client() as client:       # raises OSError outside an agent
        client.beat()                   # I live
        client.state("idle", 900)       # nothing to do for 15 minutes
        client.ack()                    # I heard the question
"""

import ctypes
import os

STATES = ("working", "idle", "exiting", "stuck")


def _load():
    library = ctypes.CDLL("libtend.so.1", use_errno=True)
    client = ctypes.c_void_p
    for name, result, arguments in (
        ("tend_open", client, []),
        ("tend_close", None, [client]),
        ("tend_beat", ctypes.c_int, [client]),
        ("tend_state", ctypes.c_int, [client, ctypes.c_int, ctypes.c_long]),
        ("tend_ack", ctypes.c_int, [client, ctypes.c_char_p]),
        ("tend_parent", ctypes.c_int, [client]),
        ("tend_check_life", ctypes.c_int, [client]),
        ("tend_agent", ctypes.c_char_p, [client]),
        ("tend_life", ctypes.c_uint, [client]),
        ("tend_why", ctypes.c_char_p, [client]),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


_LIBRARY = _load()


def _failure(client):
    return OSError(ctypes.get_errno(), _LIBRARY.tend_why(client).decode(errors="replace"))


class Client:
    """Speaks to the keeper of the agent that this program is part of."""

    def __init__(self):
        self._client = _LIBRARY.tend_open()
        if not self._client:
            raise _failure(None)
        self.agent = _LIBRARY.tend_agent(self._client).decode(errors="replace")
        self.life = _LIBRARY.tend_life(self._client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        client, self._client = self._client, None
        _LIBRARY.tend_close(client)

    def beat(self):
        """OSError with errno ESTALE once another life runs."""
        self._check(_LIBRARY.tend_beat(self._client))

    def state(self, state, until_seconds=0):
        self._check(_LIBRARY.tend_state(self._client, STATES.index(state), until_seconds))

    def ack(self, question=None):
        name = None if question is None else os.fsencode(question)
        self._check(_LIBRARY.tend_ack(self._client, name))

    def parent_lives(self):
        """True, False, or None where it cannot be known."""
        return self._answer(_LIBRARY.tend_parent(self._client))

    def life_is_current(self):
        return self._answer(_LIBRARY.tend_check_life(self._client))

    def _check(self, result):
        if result != 0:
            raise _failure(self._client)

    @staticmethod
    def _answer(result):
        return None if result < 0 else result == 1
