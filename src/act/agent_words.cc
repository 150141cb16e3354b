// Reads a line as commander (claude), clap (codex) and yargs (opencode, gemini) do.
#include "act/agent_words.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tend {
namespace {

bool has_name(const Option& option, std::string_view name) {
  std::string_view names = option.names;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

/// yargs takes --outputFormat for --output-format.
std::string in_small_letters(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0) result += '-';
    result += static_cast<char>(std::tolower(letter));
  }
  return result;
}

class Reader {
 public:
  Reader(const Grammar& grammar, std::span<const std::string> line)
      : grammar_{grammar}, line_{line} {}

  Apart read(UpTo up_to) {
    while (at_ < line_.size()) {
      const std::string& word = line_[at_++];
      if (word == "--") {
        add({.kind = Piece::Kind::separator, .words = {word}});
        while (at_ < line_.size()) add({.words = {line_[at_++]}});
      } else if (!looks_like_option(word)) {
        add({.words = {word}});
        if (up_to == UpTo::first_word) break;
      } else if (word.starts_with("--")) {
        read_long(word);
      } else {
        read_short(word);
      }
    }
    apart_.count = at_;
    return std::move(apart_);
  }

 private:
  void add(Piece piece) { apart_.pieces.push_back(std::move(piece)); }

  void doubt(const std::string& word) {
    if (apart_.doubtful.empty()) apart_.doubtful = word;
  }

  bool next_is_free() const { return at_ < line_.size() && !looks_like_option(line_[at_]); }

  const Option* look_up(std::string_view name) const {
    const auto found =
        std::ranges::find_if(grammar_.options, [&](const Option& o) { return has_name(o, name); });
    return found == grammar_.options.end() ? nullptr : &*found;
  }

  void read_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool is_yargs = grammar_.dialect == Dialect::yargs;
    const Option* option = look_up(is_yargs ? in_small_letters(name) : name);
    Piece piece{.kind = Piece::Kind::option, .option = option, .words = {word}};
    if (equals != word.npos) {
      piece.value = word.substr(equals + 1);
    } else if (option != nullptr) {
      take_values(option->takes, piece);
    } else if (next_is_free() && !(is_yargs && name.starts_with("--no-"))) {
      doubt(word);
    }
    add(std::move(piece));
  }

  // -p, -pc, -nNAME: flags first, and at most one option with a value at the end.
  void read_short(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name{'-', word[i]};
      const Option* option = look_up(name);
      const std::string rest = word.substr(i + 1);
      Piece piece{.kind = Piece::Kind::option, .option = option, .words = {name}};
      if (option == nullptr) {
        // Whatever -xyz is, it stays one word.
        piece.words = {'-' + word.substr(i)};
        if (next_is_free()) doubt(word);
        return add(std::move(piece));
      }
      if (option->takes != Takes::nothing) {
        take_attached(rest, word, piece);
        return add(std::move(piece));
      }
      if (rest.empty()) take_values(Takes::nothing, piece);
      add(std::move(piece));
    }
  }

  void take_attached(const std::string& rest, const std::string& word, Piece& piece) {
    if (rest.empty()) return take_values(piece.option->takes, piece);
    // yargs makes letters of -mNAME.
    if (grammar_.dialect == Dialect::yargs && !rest.starts_with('=')) doubt(word);
    piece.words.front() += rest;
    const bool drops_equals = grammar_.dialect != Dialect::commander && rest.starts_with('=');
    piece.value = rest.substr(drops_equals ? 1 : 0);
  }

  void take_values(Takes takes, Piece& piece) {
    const auto take = [&] {
      if (piece.words.size() == 1) piece.value = line_[at_];
      piece.words.push_back(line_[at_++]);
    };
    switch (takes) {
      case Takes::nothing:
        if (grammar_.dialect == Dialect::yargs && at_ < line_.size() &&
            (line_[at_] == "true" || line_[at_] == "false")) {
          take();
        }
        return;
      case Takes::perhaps:
        if (next_is_free()) take();
        return;
      case Takes::one:
      case Takes::many:
        // commander asks for no more than that there is a word.
        if (next_is_free() || (grammar_.dialect == Dialect::commander && at_ < line_.size())) {
          take();
        }
        while (takes == Takes::many && next_is_free()) take();
        return;
    }
  }

  const Grammar& grammar_;
  std::span<const std::string> line_;
  std::size_t at_ = 0;
  Apart apart_;
};

template <class Wanted>
const Piece* find_last(const Apart& apart, Wanted wanted) {
  const Piece* found = nullptr;
  for (const Piece& piece : apart.pieces) {
    if (piece.option != nullptr && wanted(*piece.option)) found = &piece;
  }
  return found;
}

bool is_kept(const Piece& piece) {
  if (piece.kind != Piece::Kind::option) return false;
  if (piece.option == nullptr) return true;
  return piece.option->role != Role::first_only && piece.option->role != Role::prompt;
}

}  // namespace

Apart take_apart(const Grammar& grammar, std::span<const std::string> line, UpTo up_to) {
  return Reader{grammar, line}.read(up_to);
}

const Piece* find(const Apart& apart, Role role) {
  return find_last(apart, [&](const Option& option) { return option.role == role; });
}

const Piece* find(const Apart& apart, std::string_view name) {
  return find_last(apart, [&](const Option& option) { return has_name(option, name); });
}

std::vector<std::string> loose_words(const Apart& apart) {
  std::vector<std::string> result;
  for (const Piece& piece : apart.pieces) {
    if (piece.kind == Piece::Kind::word) result.push_back(piece.words.front());
  }
  return result;
}

std::vector<std::string> kept_options(const Apart& apart) {
  std::vector<std::string> result;
  for (const Piece& piece : apart.pieces) {
    if (is_kept(piece)) result.insert(result.end(), piece.words.begin(), piece.words.end());
  }
  return result;
}

}  // namespace tend
