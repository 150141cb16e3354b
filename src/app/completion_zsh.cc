// The zsh script: a function for each command that hands its options and arguments to _arguments,
// and one that picks among them. It works from a folder of $fpath and when it is sourced.
#include <algorithm>

#include "app/completion.h"
#include "app/table.h"

namespace tend {
namespace {

constexpr std::string_view kHead = R"(#compdef tend
# Completion of tend for zsh, made by 'tend completion zsh'.
)";

constexpr std::string_view kFoot = R"(if [[ $funcstack[1] == _tend ]]; then
  _tend "$@"
else
  compdef _tend tend
fi
)";

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// For a part of a specification, in which colons and brackets have a meaning.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string function_name(std::string_view command) {
  std::string name = "_tend_" + std::string(command);
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string value_action(ValueKind kind, std::span<const std::string_view> choices) {
  switch (kind) {
    case ValueKind::file:
      return "_files";
    case ValueKind::policy:
      return "__tend_policies";
    case ValueKind::limit:
      return "__tend_limits";
    case ValueKind::command:
      return "__tend_topics";
    case ValueKind::agent:
      return "__tend_agents";
    case ValueKind::none:
    case ValueKind::text:
    case ValueKind::choice:
      break;
  }
  std::string words;
  for (const std::string_view choice : choices) words.append(" ").append(choice);
  return words.empty() ? " " : "(" + words.substr(1) + ")";
}

std::string option_spec(const OptionRow& row) {
  std::string spec = (row.repeats ? "*--" : "--") + std::string(row.name);
  const bool takes_value = row.kind != ValueKind::none;
  spec += (row.value_is_optional ? "=-[" : takes_value ? "=[" : "[") + escape(row.help) + "]";
  if (row.value_is_optional) spec += ":";
  if (takes_value) spec += ":" + escape(row.value) + ":" + value_action(row.kind, row.choices);
  return quote(spec);
}

std::string positional_spec(const PositionalRow& row) {
  return quote(std::string(row.repeats ? "*" : "") + (row.required || row.repeats ? ":" : "::") +
               escape(row.name) + ":" + value_action(row.kind, row.choices));
}

/// Words with what each means, as a function that offers them.
void add_described(std::string& script, const std::string& name,
                   std::span<const std::string> entries) {
  script += name + "() {\n  local -a words_and_help=(\n";
  for (const std::string& entry : entries) script += "    " + quote(entry) + "\n";
  script += "  )\n  _describe -t commands command words_and_help\n}\n";
}

void add_command_lists(std::string& script, std::span<const CommandRow> table) {
  std::vector<std::string> entries;
  for (const std::string_view word : first_words(table)) {
    entries.push_back(escape(word) + ":" + describe_first_word(table, word));
  }
  add_described(script, "__tend_commands", entries);
  for (const std::string_view group : first_words(table)) {
    if (!is_group(table, group)) continue;
    entries.clear();
    for (const std::string_view second : second_words(table, group)) {
      const std::string name = std::string(group) + " " + std::string(second);
      entries.push_back(escape(second) + ":" + std::string(find_command(table, name)->summary));
    }
    add_described(script, "_" + function_name(group), entries);
  }
}

void add_values(std::string& script, std::span<const CommandRow> table) {
  script += "__tend_topics() {\n  case $words[CURRENT-1] in\n";
  for (const std::string_view word : first_words(table)) {
    if (!is_group(table, word)) continue;
    script.append("    ").append(word).append(") _").append(function_name(word)).append(";;\n");
  }
  script += "    *) (( CURRENT == 2 )) && __tend_commands;;\n  esac\n}\n";
  script += "__tend_agents() {\n  compadd -- ${(f)\"$(tend status --names 2>/dev/null)\"}\n}\n";
  script += "__tend_policies() {\n  _alternative 'policies:policy:(";
  for (const std::string_view word : words_of(ValueKind::policy, {})) {
    script.append(script.back() == '(' ? "" : " ").append(word);
  }
  script += ")' 'files:file:_files'\n}\n__tend_limits() {\n  compadd -S '' --";
  for (const std::string_view word : words_of(ValueKind::limit, {})) {
    script.append(" ").append(word).append("=");
  }
  script += "\n}\n";
}

void add_command(std::string& script, std::span<const CommandRow> table, const CommandRow& row) {
  script += function_name(row.name) + "() {\n  _arguments -s -S";
  for (const OptionRow& option : row.options) script += " \\\n    " + option_spec(option);
  script += " \\\n    " + quote("(- *)--help[" + escape(kHelpOption.help) + "]");
  for (const PositionalRow& row_of : row.positionals) {
    script += " \\\n    " + positional_spec(row_of);
  }
  if (is_group(table, row.name)) script += " \\\n    '1: :_" + function_name(row.name) + "'";
  script += "\n}\n";
}

void add_choice_of_group(std::string& script, std::span<const CommandRow> table,
                         std::string_view group) {
  const bool is_command = find_command(table, group) != nullptr;
  script.append("    ").append(group).append(")\n      if (( CURRENT == 3 ))");
  script += is_command ? " || [[ $words[3] == -* ]]; then\n" : "; then\n";
  script += "        shift words; (( CURRENT -= 1 ))\n        ";
  script += is_command ? function_name(group)
                       : "_arguments '--help[" + escape(kHelpOption.help) + "]' '1: :_" +
                             function_name(group) + "'";
  script += "\n        return\n";
  script += "      fi\n      shift 2 words; (( CURRENT -= 2 ))\n      case $words[1] in\n";
  for (const std::string_view second : second_words(table, group)) {
    const std::string name = std::string(group) + " " + std::string(second);
    script.append("        ").append(second).append(") ").append(function_name(name));
    script += ";;\n";
  }
  script += "      esac;;\n";
}

void add_main(std::string& script, std::span<const CommandRow> table) {
  script += "_tend() {\n  if (( CURRENT == 2 )); then\n    _arguments '--help[" +
            escape(kHelpOption.help) + "]' '--version[" + escape(kVersionOption.help) +
            "]' '1: :__tend_commands'\n    return\n  fi\n  case $words[2] in\n";
  for (const std::string_view word : first_words(table)) {
    if (is_group(table, word)) {
      add_choice_of_group(script, table, word);
    } else {
      script.append("    ").append(word).append(") shift words; (( CURRENT -= 1 )); ");
      script += function_name(word) + ";;\n";
    }
  }
  script += "  esac\n}\n";
}

}  // namespace

std::string zsh_completion(std::span<const CommandRow> table) {
  std::string script(kHead);
  add_command_lists(script, table);
  add_values(script, table);
  for (const CommandRow& row : table) add_command(script, table, row);
  add_main(script, table);
  return script.append(kFoot);
}

}  // namespace tend
