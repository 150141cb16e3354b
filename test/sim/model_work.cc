// What a model does by itself: it talks, uses tools, waits, asks, writes files.
#include "model_of_agent.h"

#include <algorithm>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

/// Of every OpenCode of a user, where each message of a sub-agent is kept: a weak sign of them all.
constexpr const char* kOpencodeLog = "/home/user/.local/share/opencode/opencode.db-wal";

}  // namespace

void Model::talk(Duration left) {
  say();
  const Duration pause = dice_.between(20s, 90s);
  if (pause >= left) return done();
  after(pause, [this, left, pause] { talk(left - pause); });
}

/// A worker that beats, or a program that prints: at a quarter of what it may be silent for.
void Model::work_with_beats(Duration left) {
  say();
  const Duration most = std::min(silent_patience(), Duration{40min}) / 3;
  const Duration pause = std::min(dice_.between(most / 8, most), left);
  after(pause, [this, left, pause] { left > pause ? work_with_beats(left - pause) : done(); });
}

std::string Model::open(Duration takes) {
  const std::string call = fmt::format("t{}-{}", number_, ++calls_);
  const bool declares = takes < 10min && dice_.number() % 3 == 0;
  const Duration declared = declares ? std::max(takes, Duration{2min}) : Duration{};
  const std::string line = speech_->open(call, declared);
  life().in_call = !line.empty();
  tell(line, tool_patience(declared));
  return call;
}

void Model::close(const std::string& call) {
  print(speech_->close(call));
  life().in_call = false;
  shows(model_patience());
}

void Model::use_tool(Duration takes) {
  const std::string call = open(takes);
  self_.compute(dice_.number() % 4 == 0 ? 0 : 50);  // some only wait for a network
  after(takes, [this, call] {
    self_.compute(0);
    close(call);
    done();
  });
}

void Model::use_subagent(Duration takes) {
  const std::string call = fmt::format("s{}-{}", number_, ++calls_);
  const std::string line = speech_->open_subagent(call);
  life().in_call = !line.empty();
  tell(line, tool_patience({}));
  speak_as_subagent(call, takes);
}

void Model::speak_as_subagent(const std::string& call, Duration left) {
  const Duration pause = dice_.between(20s, 200s);
  if (pause >= left) {
    put(speech_->close_subagent(call));
    life().in_call = false;
    shows(model_patience());
    return done();
  }
  after(pause, [this, call, left, pause] {
    tell(speech_->say_as_subagent(call, ++said_), tool_patience({}));
    if (plan_.voice == Voice::opencode) self_.write(kOpencodeLog, std::to_string(said_));
    speak_as_subagent(call, left - pause);
  });
}

void Model::leave_in_background(Duration takes) {
  const std::string call = fmt::format("b{}-{}", number_, ++calls_);
  put(speech_->open_background(call));
  shows(shown_.background ? with_confirm(limits_.background) : tool_patience({}));
  be_done_with_messages();
  after(takes, [this, call] {
    put(speech_->wake_from_background(call));
    shows(model_patience());
    done();
  });
}

void Model::compact(Duration takes) {
  tell(speech_->begin_compaction(), with_confirm(limits_.compact));
  after(takes, [this] {
    put(speech_->end_compaction());
    say();
    done();
  });
}

void Model::be_held_until(Duration takes) {
  if (!shown_.holds) return be_held(takes);
  print(speech_->hold_until(world_.wall() + takes));
  shows(with_confirm(takes + 120s));
  if (dice_.number() % 2 == 0) return wait_to(world_.elapsed() + takes);
  after(takes, [this] {  // by a timer that stands still while the machine sleeps
    say();
    done();
  });
}

/// By one that does not.
void Model::wait_to(Duration elapsed) {
  after(30s, [this, elapsed] {
    if (world_.elapsed() < elapsed) return wait_to(elapsed);
    say();
    done();
  });
}

void Model::be_held(Duration left) {
  const Duration pause = dice_.between(30s, 120s);
  tell(speech_->hold(pause), with_confirm(shown_.holds ? pause + 120s : limits_.retry));
  after(pause, [this, left, pause] {
    if (left > pause) return be_held(left - pause);
    say();
    done();
  });
}

void Model::ask(Duration takes) {
  const std::string call = fmt::format("q{}-{}", number_, ++calls_);
  tell(speech_->ask(call), kNoLimit);
  after(takes, [this] {
    say();
    done();
  });
}

void Model::write_file() {
  const std::string call = open(10s);
  after(10s, [this, call] {
    if (!agent_.worktree.empty()) {
      std::string name = fmt::format("{}-{}", plan_.name, agent_.next_step);
      if (!agent_.wrote.empty() && dice_.number() % 4 == 0) name = agent_.wrote.begin()->first;
      const std::string text = fmt::format("step {} of life {}\n", agent_.next_step, number_);
      self_.write(agent_.worktree + "/" + name, text);
      agent_.wrote.erase(name);
      if (self_.read(agent_.worktree + "/" + name) == text) {
        agent_.wrote[name] = {.text = text, .at = world_.elapsed()};
      }
      if (dice_.number() % 3 == 0) world_.commit(agent_);
    }
    close(call);
    done();
  });
}

void Model::leave_helper(Duration takes) {
  const std::string call = open(10s);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(takes).count();
  const bool apart = dice_.number() % 2 == 0;
  const auto pid = self_.spawn({.command = {"helper", std::to_string(seconds)},
                                .environment = {},
                                .own_session = apart,
                                .orphan = apart});
  life().helpers.push_back(pid);
  after(10s, [this, call] {
    close(call);
    done();
  });
}

}  // namespace tend::sim
