// The bash script: one function that finds the command, then offers the values of the option before
// the cursor, the command's options, or its arguments. It needs bash 4 and nothing else.
#include "app/completion.h"
#include "app/table.h"

namespace tend {
namespace {

constexpr std::string_view kHead = R"(# Completion of tend for bash, made by 'tend completion bash'.
_tend_words() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$*" -- "$word")
}
_tend_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}
_tend() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]} first=2 attached=
  COMPREPLY=()
  # To bash an equals sign is a word: --policy=x are three, and so are model=5m.
  if [[ $word == = || $before == = ]]; then
    attached=yes
    if [[ $word == = ]]; then word=; else before=${COMP_WORDS[COMP_CWORD-2]}; fi
    [[ $before == -* ]] || return
  fi
)";

constexpr std::string_view kFoot = R"(}
complete -F _tend tend
)";

/// The statements that offer the values of this kind and end the function.
std::string offer(ValueKind kind, std::span<const std::string_view> choices) {
  const bool limit = kind == ValueKind::limit;
  const std::string words = joined(words_of(kind, choices), limit ? "=" : "");
  std::string statements;
  if (limit) statements += "compopt -o nospace 2>/dev/null; ";
  if (kind == ValueKind::agent) {
    statements += "_tend_words $(\"${COMP_WORDS[0]}\" status --names 2>/dev/null); ";
  }
  if (!words.empty()) statements += "_tend_words " + words + "; ";
  if (takes_file(kind)) statements += "_tend_files; ";
  return statements + "return";
}

/// The words that name a command: the first one, and behind a group the second.
std::string offer_commands(std::span<const CommandRow> table) {
  std::string text = "case $before in ";
  for (const std::string_view word : first_words(table)) {
    if (!is_group(table, word)) continue;
    text.append(word).append(") _tend_words ").append(joined(second_words(table, word)));
    text += ";; ";
  }
  return text + "*) ((COMP_CWORD == first)) && _tend_words " + joined(first_words(table)) +
         ";; esac";
}

std::string offer_positional(std::span<const CommandRow> table, const CommandRow& row) {
  if (row.positionals.empty()) return "return";
  const PositionalRow& positional = row.positionals.front();
  if (positional.kind == ValueKind::command) return offer_commands(table);
  std::string statements = offer(positional.kind, positional.choices);
  if (positional.repeats) return statements;
  return "if ((COMP_CWORD == first)) || [[ $before == -* ]]; then " + statements + "; fi";
}

std::string option_words(const CommandRow& row) {
  std::string words;
  for (const OptionRow& option : all_options(row)) words += " --" + std::string(option.name);
  return words;
}

void add_command_words(std::string& script, std::span<const CommandRow> table) {
  const std::vector<std::string_view> words = first_words(table);
  script += "  if ((COMP_CWORD == 1)); then _tend_words " + joined(words) +
            " --help --version; return; fi\n";
  for (const std::string_view word : words) {
    if (!is_group(table, word)) continue;
    script.append("  if [[ $command == ").append(word).append(" ]]; then\n");
    const CommandRow* const itself = find_command(table, word);
    script += "    if ((COMP_CWORD == 2)); then _tend_words " + joined(second_words(table, word)) +
              (itself == nullptr ? " --help" : option_words(*itself)) + "; return; fi\n";
    script += itself == nullptr ? "    " : "    [[ ${COMP_WORDS[2]} == -* ]] || ";
    script += "command+=\" ${COMP_WORDS[2]}\" first=3\n  fi\n";
  }
}

void add_option_values(std::string& script, std::span<const CommandRow> table) {
  script += "  case \"$command $before\" in\n";
  for (const CommandRow& row : table) {
    for (const OptionRow& option : row.options) {
      if (option.kind == ValueKind::none) continue;
      const std::string command = "    '" + std::string(row.name);
      script += command + " --" + std::string(option.name) + "'";
      if (option.letter != 0) script += " | '" + std::string(row.name) + " -" + option.letter + "'";
      const std::string values = offer(option.kind, option.choices);
      script += ") " +
                (option.value_is_optional ? "if [[ $attached ]]; then " + values + "; fi" : values);
      script += ";;\n";
    }
  }
  script += "  esac\n";
}

void add_arguments(std::string& script, std::span<const CommandRow> table) {
  script += "  case \"$command\" in\n";
  for (const CommandRow& row : table) {
    script += "    '" + std::string(row.name) + "')\n      if [[ $word == -* ]]; then _tend_words" +
              option_words(row);
    script += "; return; fi\n      " + offer_positional(table, row) + ";;\n";
  }
  script += "  esac\n";
}

}  // namespace

std::string bash_completion(std::span<const CommandRow> table) {
  std::string script(kHead);
  add_command_words(script, table);
  add_option_values(script, table);
  add_arguments(script, table);
  return script.append(kFoot);
}

}  // namespace tend
