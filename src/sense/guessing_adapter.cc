// Which language a stream is in, by the first line that is typical for one.
#include <memory>
#include <string_view>
#include <utility>

#include "sense/adapter.h"
#include "sense/stream_json.h"

namespace tend {
namespace {

constexpr int kLinesToGuess = 50;

/// AdapterKind::lines if nothing tells.
AdapterKind language_of(stream::Reader& reader, std::string_view line) {
  if (!line.starts_with('{')) return AdapterKind::lines;
  auto object = reader.open(line);
  if (!object) return AdapterKind::lines;
  const std::string_view type = stream::text_in(*object, "type");
  if (type == "thread.started" || type == "turn.started") return AdapterKind::codex;
  const bool has_session = !stream::text_in(*object, "session_id").empty();
  if (type == "init" && has_session) return AdapterKind::gemini;
  if ((type == "system" || type == "result") && has_session) return AdapterKind::claude;
  const bool has_opencode_session = !stream::text_in(*object, "sessionID").empty();
  if (type == "step_start" && has_opencode_session) return AdapterKind::opencode;
  if (type == "error" && has_opencode_session) return AdapterKind::opencode;
  return AdapterKind::lines;
}

class GuessingAdapter final : public Adapter {
 public:
  void take(std::string_view line, const LineTime& seen, SignalBatch& batch) override {
    if (left_to_guess_ > 0) guess(line);
    heard_->take(line, seen, batch);
  }
  void begin_life() override {
    left_to_guess_ = heard_->kind() == AdapterKind::lines ? kLinesToGuess : 0;
    heard_->begin_life();
  }
  void end_well(SignalBatch& batch) override { heard_->end_well(batch); }
  [[nodiscard]] const Conversation* conversation() const override { return heard_->conversation(); }
  [[nodiscard]] std::vector<std::string> take_remarks() override { return heard_->take_remarks(); }
  [[nodiscard]] AdapterKind kind() const override { return heard_->kind(); }

 private:
  void guess(std::string_view line) {
    --left_to_guess_;
    const AdapterKind language = language_of(reader_, line);
    if (language == AdapterKind::lines) return;
    left_to_guess_ = 0;
    heard_ = make_adapter(language);
  }

  stream::Reader reader_;
  int left_to_guess_ = kLinesToGuess;
  std::unique_ptr<Adapter> heard_ = make_line_adapter();
};

}  // namespace

std::unique_ptr<Adapter> make_guessing_adapter() { return std::make_unique<GuessingAdapter>(); }

std::unique_ptr<Adapter> make_adapter(AdapterKind kind) {
  switch (kind) {
    case AdapterKind::none:
      return nullptr;
    case AdapterKind::lines:
      return make_line_adapter();
    case AdapterKind::by_itself:
      return make_guessing_adapter();
    case AdapterKind::claude:
      return make_claude_adapter();
    case AdapterKind::codex:
      return make_codex_adapter();
    case AdapterKind::opencode:
      return make_opencode_adapter();
    case AdapterKind::gemini:
      return make_gemini_adapter();
  }
  return nullptr;
}

}  // namespace tend
