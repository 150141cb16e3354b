// The fish script: one `complete` line for each word that can be offered, with the condition under
// which it is.
#include "app/completion.h"
#include "app/table.h"

namespace tend {
namespace {

constexpr std::string_view kHead = R"(# Completion of tend for fish, made by 'tend completion fish'.
function __tend_typed -d 'the words between tend and the cursor'
    set -l typed (commandline -opc)
    set -e typed[1]
    string join -- \n $typed
end
function __tend_only -d 'these words were typed and no others'
    set -l typed (__tend_typed)
    test "$typed" = "$argv"
end
function __tend_on -d 'the typed words begin with these'
    set -l typed (__tend_typed)
    set -l words (count $argv)
    test "$typed[1..$words]" = "$argv"
end
function __tend_fresh -d 'these words, and after them nothing but options'
    __tend_on $argv; or return
    set -l typed (__tend_typed)
    set -e typed[1..(count $argv)]
    not string match -qv -- '-*' $typed
end
complete -c tend -f
)";

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// The start of a line whose offer holds under `condition`.
std::string when(std::string_view condition) { return "complete -c tend -n " + quote(condition); }

/// The part of a line that says what a value may be.
std::string values(ValueKind kind, std::span<const std::string_view> choices) {
  const std::string words = joined(words_of(kind, choices), kind == ValueKind::limit ? "=" : "");
  if (kind == ValueKind::agent) return " -a " + quote("(tend status --names 2>/dev/null)");
  const std::string files = takes_file(kind) ? " -F" : "";
  return words.empty() ? files : files + " -a " + quote(words);
}

void add_option(std::string& script, const std::string& condition, const OptionRow& row) {
  script += when(condition) + " -l " + std::string(row.name);
  if (row.letter != 0) script += std::string(" -s ") + row.letter;
  if (row.value_is_optional) {
    script += values(row.kind, row.choices);
  } else if (row.kind != ValueKind::none) {
    script += (takes_file(row.kind) ? " -r" : " -x") + values(row.kind, row.choices);
  }
  script += " -d " + quote(row.help) + "\n";
}

/// The words that name a command, behind the words `before`.
void add_command_words(std::string& script, std::span<const CommandRow> table,
                       const std::string& before) {
  const std::string condition = "__tend_only" + before;
  for (const std::string_view word : first_words(table)) {
    script += when(condition) + " -a " + std::string(word) + " -d " +
              quote(describe_first_word(table, word)) + "\n";
    for (const std::string_view second : second_words(table, word)) {
      const std::string name = std::string(word) + " " + std::string(second);
      script += when(condition + " " + std::string(word)) + " -a " + std::string(second) + " -d " +
                quote(find_command(table, name)->summary) + "\n";
    }
  }
}

void add_positional(std::string& script, std::span<const CommandRow> table, const CommandRow& row) {
  if (row.positionals.empty()) return;
  const PositionalRow& positional = row.positionals.front();
  const std::string name(row.name);
  if (positional.kind == ValueKind::command) {
    add_command_words(script, table, " " + name);
    return;
  }
  const std::string offered = values(positional.kind, positional.choices);
  if (offered.empty()) return;
  script += when((positional.repeats ? "__tend_on " : "__tend_fresh ") + name) + offered + "\n";
}

}  // namespace

std::string fish_completion(std::span<const CommandRow> table) {
  std::string script(kHead);
  add_command_words(script, table, "");
  add_option(script, "__tend_only", kHelpOption);
  add_option(script, "__tend_only", kVersionOption);
  for (const std::string_view word : first_words(table)) {
    if (!is_group(table, word) || find_command(table, word) != nullptr) continue;
    add_option(script, "__tend_only " + std::string(word), kHelpOption);
  }
  for (const CommandRow& row : table) {
    std::string condition = "__tend_on " + std::string(row.name);
    for (const std::string_view second : second_words(table, row.name)) {
      condition += "; and not __tend_on " + std::string(row.name) + " " + std::string(second);
    }
    for (const OptionRow& option : all_options(row)) add_option(script, condition, option);
    add_positional(script, table, row);
  }
  return script;
}

}  // namespace tend
