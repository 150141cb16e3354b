// First the words that name a command, then CLI11 for its options, then what the row says of
// positionals and choices. CLI11 sees one command only, so that starting tend stays cheap.
#include "app/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iterator>

#include "app/table.h"
#include "base/quote.h"
#include "base/suggest.h"

namespace tend {
namespace {

using Words = std::span<const std::string_view>;

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

bool asks_for_version(std::string_view word) { return word == "--version" || word == "-V"; }

Words before_terminator(Words words) {
  return words.first(static_cast<std::size_t>(std::ranges::find(words, "--") - words.begin()));
}

/// "tend replay", or "tend".
std::string called(std::string_view program, std::string_view command) {
  return std::string(program) + (command.empty() ? "" : " ") + std::string(command);
}
std::string called(const CommandRow& row) { return called(row.program, row.name); }

std::string where_to_look(const std::string& called) { return " (see '" + called + " --help')"; }

std::unexpected<Error> no_command(const std::string& called, std::string_view word, Words known) {
  return fail(called + ": no command " + in_quotes(word) + did_you_mean(word, known) +
              where_to_look(called));
}

std::unexpected<Error> unknown_option(const std::string& called, std::string_view word,
                                      std::span<const OptionRow> options) {
  std::vector<std::string> names;
  for (const OptionRow& option : options) names.push_back("--" + std::string(option.name));
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view typed = word.substr(0, word.find('='));
  return fail(called + ": unknown option " + in_quotes(typed) + did_you_mean(typed, known) +
              where_to_look(called));
}

/// Its words are a program's, which has options of its own.
bool takes_command(const CommandRow& row) {
  return !row.positionals.empty() && row.positionals.back().name == "CMD";
}

std::unexpected<Error> wants_terminator(std::unexpected<Error> unknown) {
  return fail(unknown.error().text +
              "; options of the program go after --, as in: tend run -- CMD -x");
}

std::unexpected<Error> wrong_use(const CommandRow& row, const std::string& what) {
  return fail(called(row) + ": " + what);
}

// --- Options ------------------------------------------------------------------------------------

/// The option that `word` names, with or without "=value".
const OptionRow* find_option(const CommandRow& row, std::string_view word) {
  const std::string_view typed = word.substr(0, word.find('='));
  const auto found = std::ranges::find_if(row.options, [&](const OptionRow& option) {
    const bool by_letter = option.letter != 0 && typed == std::string{'-', option.letter};
    return by_letter || (typed.starts_with("--") && typed.substr(2) == option.name);
  });
  return found == row.options.end() ? nullptr : &*found;
}

/// CLI11 would take the next option as the value that is missing, and `--json=no` as a flag that is
/// unset; both are slips that we point out.
Result<void> check_values(const CommandRow& row, Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const OptionRow* option = find_option(row, words[i]);
    if (option == nullptr) continue;
    const std::string name = "--" + std::string(option->name);
    const std::size_t equals = words[i].find('=');
    const bool attached = equals != std::string_view::npos;
    if (option->kind == ValueKind::none) {
      if (attached) return wrong_use(row, name + " takes no value");
      continue;
    }
    if (option->value_may_be_empty && (attached || i + 1 < words.size())) {
      if (!attached) ++i;
      continue;
    }
    if (option->value_is_optional) {
      if (attached && equals + 1 == words[i].size()) {
        return wrong_use(row, name + "= needs a value " + std::string(option->value));
      }
      continue;
    }
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view{};
    const std::string_view value = attached ? words[i].substr(equals + 1) : next;
    if (value.empty() || (!attached && value.starts_with("--"))) {
      return wrong_use(row, name + " needs a value " + std::string(option->value));
    }
    if (!attached) ++i;
  }
  return {};
}

CLI::Option* add_option(CLI::App& app, const OptionRow& row) {
  std::string names = "--" + std::string(row.name);
  if (row.letter != 0) names.append(",-").append(1, row.letter);
  if (row.kind == ValueKind::none) return app.add_flag(names);
  return app.add_option(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Those whose value stands behind a '=' or nowhere, or may be empty, which CLI11 does not know.
std::vector<std::string_view> take_with_unusual_values(const CommandRow& row, Words words,
                                                       Arguments& arguments) {
  std::vector<std::string_view> left;
  const std::size_t end = before_terminator(words).size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const OptionRow* const option = i < end ? find_option(row, words[i]) : nullptr;
    if (option == nullptr || (!option->value_is_optional && !option->value_may_be_empty)) {
      left.push_back(words[i]);
      continue;
    }
    auto& values = arguments.options[std::string(option->name)];
    const std::size_t equals = words[i].find('=');
    if (equals != std::string_view::npos) {
      values.emplace_back(words[i].substr(equals + 1));
    } else if (option->value_may_be_empty) {
      values.emplace_back(words[++i]);  // it is there: check_values()
    }
  }
  return left;
}

/// Moves the options among `words` to `arguments` and returns the rest, unknown options and "--"
/// among it. CLI11 is told of no positionals: it would read "[a,b]" as two.
Result<std::vector<std::string>> take_options(const CommandRow& row, Words all,
                                              Arguments& arguments) {
  const std::vector<std::string_view> words = take_with_unusual_values(row, all, arguments);
  try {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<CLI::Option*> options;
    for (const OptionRow& option : row.options) options.push_back(add_option(app, option));
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (options[i]->count() == 0) continue;
      auto& values = arguments.options[std::string(row.options[i].name)];
      if (row.options[i].kind != ValueKind::none) values = options[i]->results();
    }
    return app.remaining();
  } catch (const CLI::Error& error) {
    return wrong_use(row, std::string(error.what()) + where_to_look(called(row)));
  }
}

// --- Positionals and choices --------------------------------------------------------------------

Result<void> take_positionals(const CommandRow& row, std::vector<std::string> left,
                              Arguments& arguments) {
  bool options_ended = false;
  for (std::string& word : left) {
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && is_option(word)) {
      auto unknown = unknown_option(called(row), word, all_options(row));
      return takes_command(row) ? wants_terminator(std::move(unknown)) : std::move(unknown);
    } else {
      arguments.positionals.push_back(std::move(word));
    }
  }
  return {};
}

Result<void> check_count(const CommandRow& row, const Arguments& arguments) {
  const std::size_t given = arguments.positionals.size();
  const std::size_t places = row.positionals.size();
  const bool unbounded = places > 0 && row.positionals.back().repeats;
  if (given > places && !unbounded) {
    return wrong_use(row, "unexpected argument " + in_quotes(arguments.positionals[places]) +
                              where_to_look(called(row)));
  }
  for (std::size_t i = given; i < places; ++i) {
    const PositionalRow& missing = row.positionals[i];
    if (!missing.required) continue;
    const bool vowel = std::string_view("AEIOU").contains(missing.name.front());
    return wrong_use(row, std::string(missing.repeats ? "needs at least one "
                                      : vowel         ? "needs an "
                                                      : "needs a ") +
                              std::string(missing.name) + " (" + std::string(missing.help) + ")");
  }
  return {};
}

Result<void> check_choice(const CommandRow& row, std::string_view name,
                          std::span<const std::string_view> choices, const std::string& value) {
  if (std::ranges::find(choices, value) != choices.end()) return {};
  return wrong_use(row,
                   std::string(name) + " is " + in_words(choices) + ", not " + in_quotes(value));
}

Result<void> check_choices(const CommandRow& row, const Arguments& arguments) {
  for (const OptionRow& option : row.options) {
    if (option.kind != ValueKind::choice) continue;
    for (const std::string& value : arguments.values(option.name)) {
      const std::string name = "--" + std::string(option.name);
      if (auto ok = check_choice(row, name, option.choices, value); !ok) return ok;
    }
  }
  for (std::size_t i = 0; i < arguments.positionals.size(); ++i) {
    const PositionalRow& place = row.positionals[std::min(i, row.positionals.size() - 1)];
    if (place.kind != ValueKind::choice) continue;
    const std::string& value = arguments.positionals[i];
    if (auto ok = check_choice(row, place.name, place.choices, value); !ok) return ok;
  }
  return {};
}

Result<Request> parse_arguments(const CommandRow& row, Words words) {
  Arguments arguments;
  if (auto ok = check_values(row, before_terminator(words)); !ok) {
    return std::unexpected(ok.error());
  }
  auto left = take_options(row, words, arguments);
  if (!left) return std::unexpected(left.error());
  if (auto ok = take_positionals(row, std::move(*left), arguments); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = check_count(row, arguments); !ok) return std::unexpected(ok.error());
  if (auto ok = check_choices(row, arguments); !ok) return std::unexpected(ok.error());
  return RunRequest{&row, std::move(arguments)};
}

}  // namespace

Result<Topic> find_topic(std::span<const CommandRow> table, Words words) {
  if (words.empty() || is_option(words[0])) return Topic{};
  const bool has_second = words.size() > 1 && !is_option(words[1]);
  if (has_second) {
    const std::string both = std::string(words[0]) + " " + std::string(words[1]);
    if (const CommandRow* row = find_command(table, both)) return Topic{.command = row, .words = 2};
  }
  const CommandRow* const itself = find_command(table, words[0]);
  const bool has_more_words = itself != nullptr && has_second && itself->positionals.empty();
  if (itself != nullptr && !(has_more_words && is_group(table, words[0]))) {
    return Topic{.command = itself, .words = 1};
  }
  if (!is_group(table, words[0])) {
    return no_command(called(program_of(table), ""), words[0], first_words(table));
  }
  if (has_second) {
    const std::string group = called(program_of(table), words[0]);
    if (find_command(table, words[1]) != nullptr) {
      return fail(group + ": no command " + in_quotes(words[1]) + "; there is '" +
                  called(program_of(table), words[1]) + "'" + where_to_look(group));
    }
    return no_command(group, words[1], second_words(table, words[0]));
  }
  return Topic{.group = words[0], .words = 1};
}

Result<Request> parse(std::span<const CommandRow> table, Words words) {
  const bool help = std::ranges::any_of(before_terminator(words), asks_for_help);
  while (!words.empty() && asks_for_help(words[0])) words = words.subspan(1);

  if (words.size() == 1 && words[0] == "version") return VersionRequest{};
  const auto topic = find_topic(table, words);
  if (!topic) return std::unexpected(topic.error());
  if (help) return HelpRequest{*topic, true};

  const Words rest = words.subspan(topic->words);
  if (topic->command != nullptr) return parse_arguments(*topic->command, rest);
  if (rest.empty()) return HelpRequest{*topic, false};
  if (topic->group.empty() && asks_for_version(rest[0])) return VersionRequest{};
  const OptionRow known[] = {kHelpOption, kVersionOption};  // a group has no --version
  return unknown_option(called(program_of(table), topic->group), rest[0],
                        std::span(known).first(topic->group.empty() ? 2 : 1));
}

}  // namespace tend
