// The questions that parsing, help, man page and completions all ask of the command table. They are
// answered here once, so that what is offered, what is explained and what is accepted agree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"

namespace tend {

/// Every command takes it; no row lists it.
inline constexpr OptionRow kHelpOption{.name = "help", .letter = 'h', .help = "show this help"};
inline constexpr OptionRow kVersionOption{
    .name = "version", .letter = 'V', .help = "show version and commit"};

/// The name that the program goes by, of which the table is.
std::string_view program_of(std::span<const CommandRow> table);

/// The row of that name, or nullptr.
const CommandRow* find_command(std::span<const CommandRow> table, std::string_view name);

/// True for "config" if the table has a "config check". There may be a command "config", too.
bool is_group(std::span<const CommandRow> table, std::string_view word);

/// The first words of all commands, each once, in the table's order: "replay", "config".
std::vector<std::string_view> first_words(std::span<const CommandRow> table);

/// The second words of a group's commands: "check" of "config".
std::vector<std::string_view> second_words(std::span<const CommandRow> table,
                                           std::string_view group);

/// What the first word stands for, in a line: a command's summary, or the group's commands.
std::string describe_first_word(std::span<const CommandRow> table, std::string_view word);

/// The row's own options and --help.
std::vector<OptionRow> all_options(const CommandRow& row);

/// "TRACE...", "[FILE]", "[COMMAND...]".
std::string placeholder(const PositionalRow& row);

/// "--limit NAME=DUR", or "--json".
std::string with_value(const OptionRow& row);

/// The words that a value of this kind is, or (for a limit) begins with.
std::vector<std::string_view> words_of(ValueKind kind, std::span<const std::string_view> choices);

/// The option's help with the words its value is chosen from.
std::string explain(const OptionRow& row);

/// True if a value of this kind may be the name of a file.
constexpr bool takes_file(ValueKind kind) {
  return kind == ValueKind::file || kind == ValueKind::policy;
}

/// "start= model=", for suffix "=".
std::string joined(std::span<const std::string_view> words, std::string_view suffix = "");

/// "bash, zsh or fish".
std::string in_words(std::span<const std::string_view> choices);

}  // namespace tend
