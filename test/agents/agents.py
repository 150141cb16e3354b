"""How each agent is started without a terminal, and what it needs to find the scripted model.

`command` is what a person would type; {prompt} is filled in. `files` are written below HOME.
`free` are the words that let it use tools without asking. `tool` makes the item of a script that
runs a shell command.
"""
import json

PORT = 9099
URL = "http://127.0.0.1:%d" % PORT
KEY = "fake-key"


class Agent:
    def __init__(self, command, free, env, files, tool):
        self.command, self.free, self.env, self.files, self.tool = command, free, env, files, tool


def claude_tool(command, seconds=60):
    return {"tool": "Bash", "input": {"command": command, "description": "a command",
                                      "timeout": seconds * 1000}}


def codex_tool(command, seconds=60):
    return {"tool": "exec_command", "input": {"cmd": command, "yield_time_ms": seconds * 1000}}


def opencode_tool(command, seconds=60):
    return {"tool": "bash", "input": {"command": command, "description": "a command",
                                      "timeout": seconds * 1000}}


def gemini_tool(command, seconds=60):
    return {"tool": "run_shell_command", "input": {"command": command, "description": "a command"}}


CODEX_CONFIG = """
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
""" % URL

OPENCODE_CONFIG = {
    "autoupdate": False, "share": "disabled",
    "model": "mock/mock-model", "small_model": "mock/mock-model",
    "permission": {"*": "allow"},
    "provider": {"mock": {
        "npm": "@ai-sdk/openai-compatible", "name": "mock",
        "options": {"baseURL": URL + "/v1", "apiKey": KEY},
        "models": {"mock-model": {"name": "mock", "tool_call": True,
                                  "limit": {"context": 200000, "output": 8000}}}}},
}

GEMINI_CONFIG = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}

AGENTS = {
    "claude": Agent(
        ["claude", "-p", "{prompt}"], ["--dangerously-skip-permissions"],
        {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": KEY, "IS_SANDBOX": "1",
         "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        {}, claude_tool),
    "codex": Agent(
        ["codex", "exec", "{prompt}", "--skip-git-repo-check"],
        ["--dangerously-bypass-approvals-and-sandbox"],
        {"MOCK_KEY": KEY}, {".codex/config.toml": CODEX_CONFIG}, codex_tool),
    "opencode": Agent(
        ["opencode", "run", "{prompt}"], [],
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
         "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
        {".config/opencode/opencode.json": json.dumps(OPENCODE_CONFIG)}, opencode_tool),
    "gemini": Agent(
        ["gemini", "-p", "{prompt}"], ["--yolo"],
        {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": URL, "NO_COLOR": "1",
         "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false"},
        {".gemini/settings.json": json.dumps(GEMINI_CONFIG)}, gemini_tool),
}
