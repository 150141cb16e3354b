#!/usr/bin/env python3
"""A scripted language model on loopback: every answer, delay and fault comes when the script says.

usage: mockllm.py SCRIPT.json [--port 9099] [--log FILE]

One server speaks the dialects of dialects.py, chosen by the path of the request.

A script is a list of items. The k-th request that offers tools takes the k-th item; after the last
one the last item repeats. A request without tools (titles, summaries and routing, which agents ask
for on the side) gets a stock answer and takes no item. With several conversations at once a script
is {"MARK": [items], ..., "": [items]}: a request takes from the first MARK that stands in what its
user wrote (not in results of tools), else from "".

An item says what to answer, and optionally how:

    {"text": "hello"}                              end the turn with text
    {"tool": "Bash", "input": {...}}               one tool call
    {"tools": [{"tool":..,"input":..}, ...]}       several at once
    {"think": "hm", "text": "hello"}               some reasoning first (goes with tools, too)
    {"status": 529, "retry_after": 4}              an HTTP error
    {"obey": true}                                 run what the last message tells it to (run `CMD`),
                                                   else end the turn

    "delay": 2.5              wait before the first byte
    "after": "/tmp/go"        the same, until this file is there
    "slow": {"chunks": 30, "gap": 1}     dribble: 30 deltas, 1 s between them
    "hang": "before"          take the request, never send a byte
    "hang": "mid"             send the beginning, then silence, never close
    "ping": 1                 while hanging mid, send an empty keep-alive every 1 s
    "drop": "mid"             send the beginning, then reset the connection (RST)
    "drop": "fin"             the same, but close it politely (FIN)

The log gets one JSON line when a request comes in and one when it ends, with the time of day `at`.
"""
import argparse
import json
import os
import re
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from dialects import dialect_of

# What gemini's calls about routing and the next speaker want to read.
SIDE_JSON = json.dumps({"reasoning": "mock", "next_speaker": "user", "model_choice": "flash",
                        "complexity_reasoning": "mock", "complexity_score": 1})
FOR_EVER = 1e6
SAID = 2000  # so many letters of what the user wrote are logged, the last


class Script:
    """The items, one queue a mark, handed out in the order of arrival."""

    def __init__(self, data):
        self.queues = data if isinstance(data, dict) else {"": data}
        self.taken = dict.fromkeys(self.queues, 0)
        self.lock = threading.Lock()

    def take(self, user_text):
        mark = next((m for m in self.queues if m and m in user_text), "")
        queue = self.queues.get(mark) or [{"text": "ok"}]
        with self.lock:
            k = self.taken[mark] = self.taken.get(mark, 0) + 1
        return mark, k, queue[min(k, len(queue)) - 1]


def parts_of(item, uid):
    """What the model says, as dialects.py wants it."""
    calls = item.get("tools") or ([item] if "tool" in item else [])
    text = item.get("text")
    if text is None and not calls:
        text = "word " * item.get("slow", {}).get("chunks", 2)
    parts = [("think", item["think"])] if item.get("think") else []
    parts += [("text", text)] if text else []
    return parts + [("tool", "%s_%d" % (uid, i), c["tool"], c.get("input", {}))
                    for i, c in enumerate(calls)]


def gist(m):
    """One message in a few words."""
    if not isinstance(m, dict):
        return "?: %.160s" % json.dumps(m)
    c = m.get("content", m.get("parts", m))
    if isinstance(c, list):
        c = [p.get("text") or p.get("content") or p.get("functionResponse") or p.get("type")
             for p in c if isinstance(p, dict)]
    return "%s: %.160s" % (m.get("role", m.get("type")), c if isinstance(c, str) else json.dumps(c))


def obeyed(messages):
    """What a model does that follows orders: the last "run `CMD`" since it spoke."""
    heard = []
    for message in reversed(messages):
        if message.get("role") == "assistant":
            break
        heard.insert(0, message)
    orders = re.findall(r"run `([^`]+)`", json.dumps(heard))
    if not orders:
        return {"text": "done"}
    return {"tool": "Bash", "input": {"command": orders[-1], "description": "as told"}}


class Gone(Exception):
    """The client closed its end."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive and chunked bodies, as real servers have them
    sent = 0

    def log_message(self, *_):
        pass

    def pause(self, seconds):
        """Sleeps, but notices at once when the client gives up."""
        end = time.time() + seconds
        while (left := end - time.time()) > 0:
            if select.select([self.connection], [], [], left)[0]:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    raise Gone
                time.sleep(min(left, 0.2))

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
        self.sent += len(data)

    def head(self, status, headers):
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k, v)
        self.end_headers()

    def reply(self, status, body, more={}):
        raw = json.dumps(body).encode() if body != "" else b""
        self.head(status, {"content-type": "application/json", "content-length": str(len(raw)),
                           **more})
        self.wfile.write(raw)
        self.sent += len(raw)

    def do_HEAD(self):
        self.reply(200, "")

    def do_GET(self):
        if "/models" in self.path:
            self.reply(200, {"object": "list", "data": [], "models": []})
        else:
            self.reply(404, {})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        dialect = dialect_of(self.path)
        if "count" in self.path.rsplit("/", 1)[-1]:
            return self.reply(200, {"input_tokens": 10, "totalTokens": 10})
        if not dialect or not isinstance(body, dict):
            return self.reply(404, {})
        n, item = self.take(dialect, body)
        self.sent, start = 0, time.time()
        try:
            how = self.answer(dialect, body, item, "%d_%d" % (n, int(start * 1000))) or "ok"
        except (Gone, ConnectionError, TimeoutError):
            how, self.close_connection = "client closed", True
        self.server.note(end=n, how=how, sent=self.sent, took=round(time.time() - start, 3))

    def take(self, dialect, body):
        """The number of this request, and the item it gets."""
        if dialect.tools(body):
            mark, k, item = self.server.script.take(dialect.user(body))
            if item.get("obey"):
                item = {**item, **obeyed(dialect.messages(body))}
        else:  # a side call: text, or the JSON that it insists on
            mime = body.get("generationConfig", {}).get("responseMimeType")
            mark, k, item = "side", 0, {"text": SIDE_JSON if "json" in str(mime) else "ok"}
        messages = dialect.messages(body)
        n = self.server.number()
        self.server.note(req=n, path=self.path.split("?")[0], messages=len(messages), route=mark,
                         k=k, item=item, said=dialect.user(body)[-SAID:],
                         last=[gist(m) for m in messages[-3:]])
        return n, item

    def answer(self, dialect, body, item, uid):
        if item.get("hang") == "before":
            self.pause(FOR_EVER)
        self.pause(item.get("delay", 0))
        while "after" in item and not os.path.exists(item["after"]):
            self.pause(0.05)
        if "status" in item:
            after = item.get("retry_after")
            more = {} if after is None else {"retry-after": str(after)}
            return self.reply(item["status"], dialect.error(item["status"], after), more)
        slow, mid = item.get("slow", {}), item.get("hang") == "mid" or "drop" in item
        parts = parts_of(item, uid)
        if not (body.get("stream") or "streamGenerate" in self.path or mid):
            self.pause(slow.get("chunks", 0) * slow.get("gap", 0))
            return self.reply(200, dialect.whole(body, parts, uid))
        self.head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        pieces = max(slow.get("chunks", 1), 2 if mid else 1)
        for is_delta, frame in dialect.stream(body, parts, uid, pieces):
            self.chunk(frame)
            if is_delta and mid:
                return self.stop_mid(dialect, item)
            if is_delta and slow:
                self.pause(slow.get("gap", 0))
        self.wfile.write(b"0\r\n\r\n")

    def stop_mid(self, dialect, item):
        """After the first delta: goes silent, with pings if asked to, or cuts the line."""
        while item.get("hang"):
            self.pause(item.get("ping", FOR_EVER))
            self.chunk(dialect.ping)
        self.close_connection = True
        if item["drop"] == "fin":
            self.connection.shutdown(socket.SHUT_RDWR)
        else:  # linger 0 turns close() into a reset
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        return "dropped"


class Model(ThreadingHTTPServer):
    """The server. `notes` holds what the log gets."""

    daemon_threads, allow_reuse_address = True, True

    def __init__(self, script, port, log):
        super().__init__(("127.0.0.1", port), Handler)
        self.script, self.log, self.notes = Script(script), log, []
        self.lock, self.requests = threading.Lock(), 0

    def number(self):
        with self.lock:
            self.requests += 1
            return self.requests

    def note(self, **said):
        line = {"at": round(time.time(), 3), **said}
        with self.lock:
            self.notes.append(line)
            print(json.dumps(line), file=self.log, flush=True)

    def handle_error(self, request, addr):
        if not isinstance(sys.exc_info()[1], OSError):  # cut connections are part of the play
            super().handle_error(request, addr)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("script")
    parser.add_argument("--port", type=int, default=9099)
    parser.add_argument("--log")
    words = parser.parse_args()
    with open(words.script) as f:
        script = json.load(f)
    Model(script, words.port, open(words.log, "a") if words.log else sys.stderr).serve_forever()


if __name__ == "__main__":
    main()
