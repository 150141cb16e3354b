// The C library does the speaking, the same that programs link.
#include "app/quick.h"

#include <cerrno>
#include <memory>
#include <vector>

#include "app/command.h"
#include "base/duration.h"
#include "client/tend.h"

namespace tend {
namespace {

struct Closer {
  void operator()(tend_client* client) const { tend_close(client); }
};
using Client = std::unique_ptr<tend_client, Closer>;

constexpr tend_state_word to_client(SelfState state) {
  switch (state) {
    case SelfState::working:
      return TEND_WORKING;
    case SelfState::idle:
      return TEND_IDLE;
    case SelfState::exiting:
      return TEND_EXITING;
    case SelfState::stuck:
      break;
  }
  return TEND_STUCK;
}

std::string_view word_of(Speech::Kind kind) {
  switch (kind) {
    case Speech::Kind::beat:
      return "beat";
    case Speech::Kind::state:
      return "state";
    case Speech::Kind::ack:
      break;
  }
  return "ack";
}

bool say(tend_client* client, const Speech& speech) {
  switch (speech.kind) {
    case Speech::Kind::beat:
      return tend_beat(client) == 0;
    case Speech::Kind::state:
      return tend_state(client, to_client(speech.state),
                        std::chrono::ceil<std::chrono::seconds>(speech.lasts).count()) == 0;
    case Speech::Kind::ack:
      break;
  }
  return tend_ack(client, speech.id ? speech.id->c_str() : nullptr) == 0;
}

Spoken refused(const Speech& speech, int error) {
  const bool life_is_over = error == ESTALE;
  return {.exit_code = life_is_over ? kExitNo : kExitUsage,
          .line = "tend " + std::string(word_of(speech.kind)) + ": " + tend_why(nullptr) + "\n"};
}

/// Beats and states may be wanted in stores of other systems, too.
bool goes_further(const tend_client* client, const Speech& speech) {
  return client != nullptr && speech.kind != Speech::Kind::ack && tend_has_sinks(client) == 1;
}

Spoken speak_through(tend_client* client, const Speech& speech) {
  if (client == nullptr || !say(client, speech)) return refused(speech, errno);
  const std::string agent = tend_agent(client);
  const unsigned life = tend_life(client);
  return {.exit_code = kExitYes,
          .line = "tend: " + in_words(speech) + " for " + agent + ", life " + std::to_string(life) +
                  "\n",
          .agent = agent,
          .life = life,
          .has_sinks = goes_further(client, speech)};
}

std::optional<Speech> plain_state(std::span<const std::string_view> words) {
  const bool has_until = words.size() == 3 && words[1] == "--until";
  if (words.size() != 1 && !has_until) return std::nullopt;
  const auto state = from_word<SelfState>(kSelfStateWords, words[0]);
  if (!state) return std::nullopt;
  Speech speech{.kind = Speech::Kind::state, .state = *state};
  if (has_until) {
    const auto lasts = parse_duration(words[2]);
    if (!lasts || *lasts <= Duration::zero()) return std::nullopt;
    speech.lasts = *lasts;
  }
  return speech;
}

std::optional<Speech> plain_speech(std::span<const std::string_view> words) {
  if (words.empty()) return std::nullopt;
  const auto rest = words.subspan(1);
  if (words[0] == "state") return plain_state(rest);
  if (words[0] == "beat" && rest.empty()) return Speech{.kind = Speech::Kind::beat};
  if (words[0] != "ack" || rest.size() > 1) return std::nullopt;
  Speech speech{.kind = Speech::Kind::ack};
  if (rest.empty()) return speech;
  if (rest[0].starts_with('-')) return std::nullopt;
  speech.id = rest[0];
  return speech;
}

}  // namespace

std::string in_words(const Speech& speech) {
  std::string words(word_of(speech.kind));
  if (speech.kind == Speech::Kind::state) {
    words.append(" ").append(kSelfStateWords[static_cast<std::size_t>(speech.state)]);
    if (speech.lasts > Duration::zero()) words += " (" + format_duration(speech.lasts) + ")";
  }
  if (speech.id) words += " " + *speech.id;
  return words;
}

Spoken speak(const Speech& speech) {
  const Client client(tend_open());
  return speak_through(client.get(), speech);
}

Spoken speak_for(const std::string& folder, const Speech& speech) {
  constexpr unsigned kOnlyLife = 1;  // of what is watched
  const Client client(tend_open_at(folder.c_str(), kOnlyLife));
  return speak_through(client.get(), speech);
}

std::optional<Spoken> speak_quickly(std::span<const std::string_view> words) {
  std::vector<std::string_view> rest(words.begin(), words.end());
  const bool quiet =
      std::erase_if(rest, [](std::string_view w) { return w == "-q" || w == "--quiet"; }) > 0;
  const auto speech = plain_speech(rest);
  if (!speech) return std::nullopt;
  const Client client(tend_open());
  // Whoever answers may be in a session that is only watched, and known by its processes.
  const bool is_outside = client == nullptr && errno == ESRCH;
  if (is_outside && speech->kind == Speech::Kind::ack) return std::nullopt;
  if (goes_further(client.get(), *speech)) return std::nullopt;
  Spoken spoken = speak_through(client.get(), *speech);
  if (quiet && spoken.exit_code == kExitYes) spoken.line.clear();
  return spoken;
}

}  // namespace tend
