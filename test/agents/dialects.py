"""The languages in which agents speak with their models, seen from the model's side.

Each dialect is a class that is never made: what tools a request offers, its messages, what its user
wrote, the answer as a whole and as a stream of (is_delta, bytes) frames, and an error. An answer is
a list of parts, free of dialect: ("think", s), ("text", s) or ("tool", id, name, input).
"""
import json
import time


def cut(s, n):
    """s in n pieces of about equal length, fewer if it is short."""
    n = max(1, min(n, len(s)))
    return [s[len(s) * i // n : len(s) * (i + 1) // n] for i in range(n)]


def sse(data, event=None):
    head = "event: %s\n" % event if event else ""
    return (head + "data: %s\n\n" % (data if isinstance(data, str) else json.dumps(data))).encode()


def user_text(messages, key="content"):
    """What the user wrote, results of tools left out."""
    out = []
    for m in messages or []:
        if not isinstance(m, dict) or m.get("role", "user") != "user":
            continue
        c = m.get(key)
        for p in [{"text": c}] if isinstance(c, str) else c or []:
            if isinstance(p, dict) and isinstance(p.get("text"), str):
                out.append(p["text"])
    return "\n".join(out)


class Anthropic:
    """Anthropic Messages (claude)."""

    ping = sse({"type": "ping"}, "ping")

    def tools(b):
        return [t.get("name", t.get("type")) for t in b.get("tools") or []]

    def messages(b):
        return b.get("messages") or []

    def user(b):
        return user_text(b.get("messages"))

    def block(p):
        if p[0] == "text":
            return {"type": "text", "text": p[1]}
        if p[0] == "think":
            return {"type": "thinking", "thinking": p[1], "signature": "mock"}
        return {"type": "tool_use", "id": "toolu_" + p[1], "name": p[2], "input": p[3]}

    def whole(b, parts, uid):
        stop = "tool_use" if any(p[0] == "tool" for p in parts) else "end_turn"
        return {
            "id": "msg_" + uid, "type": "message", "role": "assistant", "model": b.get("model"),
            "content": [Anthropic.block(p) for p in parts],
            "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def stream(b, parts, uid, n):
        def ev(kind, is_delta=False, **d):
            return is_delta, sse({"type": kind, **d}, kind)

        def delta(i, kind, **d):
            return ev("content_block_delta", kind != "signature_delta", index=i,
                      delta={"type": kind, **d})

        msg = Anthropic.whole(b, parts, uid)
        yield ev("message_start", message={**msg, "content": [], "stop_reason": None})
        for i, block in enumerate(msg["content"]):
            if block["type"] == "text":
                empty, kind, field, s = {"text": ""}, "text_delta", "text", block["text"]
            elif block["type"] == "thinking":
                empty, kind, field = {"thinking": "", "signature": ""}, "thinking_delta", "thinking"
                s = block["thinking"]
            else:
                empty, kind, field = {"input": {}}, "input_json_delta", "partial_json"
                s = json.dumps(block["input"])
            yield ev("content_block_start", index=i, content_block={**block, **empty})
            for piece in cut(s, n):
                yield delta(i, kind, **{field: piece})
            if block["type"] == "thinking":
                yield delta(i, "signature_delta", signature="mock")
            yield ev("content_block_stop", index=i)
        yield ev("message_delta", usage={"output_tokens": 5},
                 delta={"stop_reason": msg["stop_reason"], "stop_sequence": None})
        yield ev("message_stop")

    def error(status, after):
        kind = {429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": "scripted %d" % status}}


class Responses:
    """OpenAI Responses (codex)."""

    ping = b": keep-alive\n\n"

    def tools(b):
        return [t.get("name", t.get("type")) for t in b.get("tools") or []]

    def messages(b):
        said = b.get("input")
        return said if isinstance(said, list) else [{"role": "user", "content": str(said)}]

    def user(b):
        return user_text(Responses.messages(b))

    def item(p, uid):
        if p[0] == "text":
            content = [{"type": "output_text", "text": p[1], "annotations": []}]
            return {"type": "message", "id": "msg_" + uid, "role": "assistant",
                    "status": "completed", "content": content}
        if p[0] == "think":
            return {"type": "reasoning", "id": "rs_" + uid,
                    "summary": [{"type": "summary_text", "text": p[1]}]}
        return {"type": "function_call", "id": "fc_" + p[1], "call_id": "call_" + p[1],
                "status": "completed", "name": p[2], "arguments": json.dumps(p[3])}

    def whole(b, parts, uid):
        return {
            "id": "resp_" + uid, "object": "response", "created_at": int(time.time()),
            "status": "completed", "model": b.get("model"),
            "output": [Responses.item(p, uid) for p in parts],
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                      "input_tokens_details": {"cached_tokens": 0},
                      "output_tokens_details": {"reasoning_tokens": 0}},
        }

    def stream(b, parts, uid, n):
        numbers = iter(range(10**9))

        def ev(kind, is_delta=False, **d):
            return is_delta, sse({"type": kind, "sequence_number": next(numbers), **d}, kind)

        def added(i, item, **d):
            return ev("response.output_item.added", output_index=i, item={**item, **d})

        resp = Responses.whole(b, parts, uid)
        begun = {**resp, "status": "in_progress", "output": [], "usage": None}
        yield ev("response.created", response=begun)
        for i, item in enumerate(resp["output"]):
            at = {"output_index": i, "item_id": item["id"]}
            if item["type"] == "message":
                yield added(i, item, status="in_progress", content=[])
                kind, more, s = "output_text", {"content_index": 0}, item["content"][0]["text"]
            elif item["type"] == "reasoning":
                yield added(i, item, summary=[])
                kind, more = "reasoning_summary_text", {"summary_index": 0}
                s = item["summary"][0]["text"]
            else:
                yield added(i, item, status="in_progress", arguments="")
                kind, more, s = "function_call_arguments", {}, item["arguments"]
            for piece in cut(s, n):
                yield ev("response.%s.delta" % kind, True, delta=piece, **more, **at)
            yield ev("response.output_item.done", output_index=i, item=item)
        yield ev("response.completed", response=resp)

    def error(status, after):
        code = {429: "rate_limit_exceeded", 529: "server_is_overloaded"}.get(status, "server_error")
        hint = " Please try again in %ss." % after if after else ""
        return {"error": {"message": "scripted %d.%s" % (status, hint), "type": code, "code": code}}


class Chat:
    """OpenAI Chat Completions (opencode)."""

    ping = b": keep-alive\n\n"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    error = Responses.error

    def tools(b):
        return [t.get("function", t).get("name") for t in b.get("tools") or []]

    def messages(b):
        return b.get("messages") or []

    def user(b):
        return user_text(b.get("messages"))

    def calls(parts):
        tools = [p for p in parts if p[0] == "tool"]
        return [{"index": i, "id": "call_" + p[1], "type": "function",
                 "function": {"name": p[2], "arguments": json.dumps(p[3])}}
                for i, p in enumerate(tools)]

    def head(b, uid, kind):
        return {"id": "chatcmpl-" + uid, "object": kind, "created": int(time.time()),
                "model": b.get("model")}

    def whole(b, parts, uid):
        calls = Chat.calls(parts)
        text = "".join(p[1] for p in parts if p[0] == "text")
        msg = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": msg, "finish_reason": "tool_calls" if calls else "stop"}
        return {**Chat.head(b, uid, "chat.completion"), "usage": Chat.usage, "choices": [choice]}

    def stream(b, parts, uid, n):
        head = Chat.head(b, uid, "chat.completion.chunk")

        def ev(delta, is_delta=False, finish=None):
            choice = {"index": 0, "finish_reason": finish, "delta": delta}
            return is_delta, sse({**head, "choices": [choice]})

        yield ev({"role": "assistant", "content": ""})
        for p in parts:
            field = "content" if p[0] == "text" else "reasoning_content"
            for piece in cut(p[1], n) if p[0] != "tool" else []:
                yield ev({field: piece}, True)
        calls = Chat.calls(parts)
        for c in calls:
            function = c["function"]
            yield ev({"tool_calls": [{**c, "function": {**function, "arguments": ""}}]})
            for piece in cut(function["arguments"], n):
                part = {"index": c["index"], "function": {"arguments": piece}}
                yield ev({"tool_calls": [part]}, True)
        yield ev({}, finish="tool_calls" if calls else "stop")
        yield False, sse({**head, "choices": [], "usage": Chat.usage})
        yield False, sse("[DONE]")


class Gemini:
    """Google's generateContent (gemini)."""

    ping = b": keep-alive\n\n"
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}

    def tools(b):
        offered = [t.get("functionDeclarations") or [] for t in b.get("tools") or []]
        return [d.get("name") for declarations in offered for d in declarations]

    def messages(b):
        return b.get("contents") or []

    def user(b):
        return user_text(b.get("contents"), "parts")

    def part(p):
        if p[0] != "tool":
            return {"text": p[1], **({"thought": True} if p[0] == "think" else {})}
        return {"functionCall": {"id": "call_" + p[1], "name": p[2], "args": p[3]}}

    def answer(parts, finish=None):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0,
                     **({"finishReason": finish} if finish else {})}
        return {"candidates": [candidate], "modelVersion": "mock", "usageMetadata": Gemini.usage}

    def whole(b, parts, uid):
        return Gemini.answer([Gemini.part(p) for p in parts], "STOP")

    def stream(b, parts, uid, n):
        for p in parts:
            for q in [p] if p[0] == "tool" else [(p[0], s) for s in cut(p[1], n)]:
                yield True, sse(Gemini.answer([Gemini.part(q)]))
        yield False, sse(Gemini.answer([{"text": ""}], "STOP"))

    def error(status, after):
        name = {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}.get(status, "UNAVAILABLE")
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        info = [{"@type": kind, "retryDelay": "%ss" % after}] if after else []
        return {"error": {"code": status, "message": "scripted %d" % status, "status": name,
                          "details": info}}


def dialect_of(path):
    """Which dialect is spoken at this path of the server; None if none is."""
    for mark, dialect in (("/messages", Anthropic), ("/responses", Responses),
                          ("/chat/completions", Chat), ("enerateContent", Gemini)):
        if mark in path:
            return dialect
