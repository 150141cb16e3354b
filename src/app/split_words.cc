// One pass: a word is begun by its first letter or quote, so that '' is an empty word.
#include "app/split_words.h"

#include <utility>

#include "base/quote.h"

namespace tend {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Splitter {
 public:
  explicit Splitter(std::string_view text) : whole_(text), left_(text) {}

  Result<std::vector<std::string>> words() {
    while (!left_.empty()) {
      const char c = take();
      if (is_blank(c)) {
        end_word();
        continue;
      }
      in_word_ = true;
      const bool ok = c == '\'' ? take_plain() : c == '"' ? take_quoted() : take_letter(c);
      if (!ok) return fail(in_quotes(whole_) + " ends inside of a quote or behind a backslash");
    }
    end_word();
    return std::move(words_);
  }

 private:
  char take() {
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }
  bool take_letter(char c) {
    if (c == '\\') {
      if (left_.empty()) return false;
      c = take();
    }
    word_ += c;
    return true;
  }
  bool take_plain() {
    const auto end = left_.find('\'');
    if (end == std::string_view::npos) return false;
    word_ += left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return true;
  }
  bool take_quoted() {
    while (!left_.empty()) {
      char c = take();
      if (c == '"') return true;
      const bool escapes = c == '\\' && (left_.starts_with('"') || left_.starts_with('\\'));
      if (escapes) c = take();
      word_ += c;
    }
    return false;
  }

  std::string_view whole_;
  std::string_view left_;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  return Splitter(text).words();
}

}  // namespace tend
