// What the adapters of the real agents have in common: a line is one JSON object, calls are open or
// closed, a turn is open or over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sense/adapter.h"
#include "sense/open_calls.h"
#include "sense/stream_json.h"

namespace tend {

class AgentAdapter : public Adapter {
 public:
  void take(std::string_view line, const LineTime& seen, SignalBatch& batch) final;
  void begin_life() final;
  void end_well(SignalBatch& batch) final {
    batch_ = &batch;
    finish_well();
  }
  [[nodiscard]] const Conversation* conversation() const final { return &conversation_; }
  [[nodiscard]] std::vector<std::string> take_remarks() final {
    return std::exchange(remarks_, {});
  }

 protected:
  using Object = stream::od::object;

  /// One line. What is not understood is weak().
  virtual void hear(Object& line) = 0;
  /// It ended by itself and with success, whatever it told before.
  virtual void finish_well() {}
  /// A new life: what only this language keeps is forgotten.
  virtual void forget() {}

  /// A name: an id, a tool, a task, a word. One that is too long is cut, with its print behind it,
  /// so that different names stay different.
  [[nodiscard]] std::string_view name_in(Object& object, std::string_view field);

  /// A signal of this line. Its texts are copied where put() is given them.
  Signal& put(Kind kind, std::string_view task = {});
  [[nodiscard]] std::string_view kept(std::string_view text) { return batch_->texts.copy(text); }
  void progress(std::string_view task = {}) { put_plain(Kind::progress, task); }
  void noise() { put_plain(Kind::noise, {}); }
  void weak();
  void beat(const OpenCalls::Call& call);

  void start_turn();
  /// `word` is the cause as it is said; empty: the turn ended well.
  void end_turn(std::string_view word = {});
  [[nodiscard]] bool turn_is_open() const { return turn_open_; }
  [[nodiscard]] bool had_turn() const { return had_turn_; }

  /// Opens a call and says so; `input` is its input as it is written.
  OpenCalls::Call& open_call(std::string_view id, std::string_view tool, std::string_view input,
                             std::string_view task = {});
  /// Says that it is open, with what is known of it.
  Signal& say_open(const OpenCalls::Call& call);
  /// Closes an open call; of any other it is known only that something was answered.
  void close_call(std::string_view id, std::string_view result, std::string_view task = {});
  void say_closed(const OpenCalls::Call& call, std::uint32_t same);

  void error(std::string_view word, bool final, std::string_view task = {});
  void set_cause(Signal& signal, std::string_view word);
  [[nodiscard]] Instant after(double seconds) const;
  /// A time by the calendar, in seconds; none if the time of day is not known.
  [[nodiscard]] std::optional<Instant> at_calendar(double seconds) const;
  void remark(std::string text);
  /// What could not stand on a command line is no session.
  void learn_session(std::string_view id);

  OpenCalls calls_;
  Conversation conversation_;

 private:
  void put_plain(Kind kind, std::string_view task);

  stream::Reader reader_;
  SignalBatch* batch_ = nullptr;
  const LineTime* seen_ = nullptr;
  bool turn_open_ = false;
  bool had_turn_ = false;
  std::vector<std::string> remarks_;
  std::vector<std::uint64_t> remarked_;  // prints of what was remarked in this life
};

}  // namespace tend
