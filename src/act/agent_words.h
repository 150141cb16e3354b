// A command line taken apart into options and words the way the agent itself will do it, so that
// nothing is put between an option and its value and a prompt is not taken for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

/// How many of the words behind it belong to an option.
enum class Takes : std::uint8_t {
  nothing,
  one,
  perhaps,  // the next one, if it does not look like an option
  many,     // one, and all that follow up to the next option
};

/// What an option means for a start and for a resume.
enum class Role : std::uint8_t {
  plain,       // stays as it is
  first_only,  // chooses the session or belongs to the first prompt: left out of a resume
  prompt,      // its value is the prompt
  format,      // its value is the language of the output
  headless,    // it works without a terminal
  terminal,    // it needs one
  unkept,      // the session cannot be taken up again
  aside,       // something is printed or managed, and no agent runs
};

struct Option {
  std::string_view names;  // "-p --print"
  Takes takes = Takes::nothing;
  Role role = Role::plain;
};

/// The libraries that read the command lines of the agents, and differ in it.
enum class Dialect : std::uint8_t { commander, clap, yargs };

struct Grammar {
  Dialect dialect;
  std::span<const Option> options;
};

struct Piece {
  enum class Kind : std::uint8_t { option, word, separator };
  Kind kind = Kind::word;
  const Option* option = nullptr;  // null for an option that is not in the table
  std::vector<std::string> words;  // as they were said; -ab is made of two pieces, -a and -b
  std::string value;               // the first one, of an option that has any
};

struct Apart {
  std::vector<Piece> pieces;
  std::size_t count = 0;  // of the words that were read
  std::string doubtful;   // an option of which it is not known whether the next word is its value
};

/// The whole line, or only up to and with the first word that belongs to no option.
enum class UpTo : std::uint8_t { end, first_word };
Apart take_apart(const Grammar& grammar, std::span<const std::string> line, UpTo up_to = UpTo::end);

/// The last piece of that role or of that name ("--verbose"), or null.
const Piece* find(const Apart& apart, Role role);
const Piece* find(const Apart& apart, std::string_view name);

/// The words that belong to no option.
std::vector<std::string> loose_words(const Apart& apart);

/// The options that a resume keeps, as they were said.
std::vector<std::string> kept_options(const Apart& apart);

}  // namespace tend
