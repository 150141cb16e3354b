// Plain man(7) macros, which both mandoc and groff read. Only the words that belong to no command
// are here.
#include "app/man.h"

#include <algorithm>

#include "app/table.h"

namespace tend {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::string_view kDate = "2026-11-15";  // of the last change to the words in this file

constexpr std::string_view kDescription =
    "Tend watches over long-running agents: programs that work for minutes or days. It gathers "
    "signals of an agent and gives a verdict that it can explain: starting, working, waiting, "
    "idle, suspect, stalled, dead, orphaned, finished, looping or unknown.\n\n"
    "An error is one line on standard error that says what to do.";

struct Entry {
  std::string_view term;
  std::string_view about;
};

constexpr Entry kExitStatus[] = {
    {"0", "Yes: what was asked is so, or was done."},
    {"1", "No: an expectation failed, or what was checked is not right."},
    {"2", "Usage: the command was not understood, or something could not be read or written."},
    {"3", "Something needs you."},
};

constexpr Entry kEnvironment[] = {
    {"NO_COLOR", "If set and not empty, nothing is printed in colour."},
    {"CLICOLOR_FORCE", "If set and not 0, colours are printed into pipes and files, too."},
    {"TEND_HOME",
     "Holds your configuration, config.toml. Not set: $XDG_STATE_HOME/tend, and "
     "without that ~/.local/state/tend."},
};

void add_line(std::string& page, std::string_view text) { page.append(text).append("\n"); }

void add_section(std::string& page, std::string_view name) {
  page.append(".SH ").append(name).append("\n");
}

/// Text in source lines of at most kWidth, as mandoc's lint wants them.
void add_text(std::string& page, std::string_view text) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word = roff(text.substr(0, end));
    const bool fits = column + 1 + word.size() <= kWidth;
    if (column > 0) page += fits ? ' ' : '\n';
    column = column > 0 && fits ? column + 1 + word.size() : word.size();
    page += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  page += '\n';
}

/// Paragraphs end in a blank line in the table, in .PP here.
void add_paragraphs(std::string& page, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    add_text(page, text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
    if (!text.empty()) add_line(page, ".PP");
  }
}

void add_entry(std::string& page, std::string_view term, std::string_view about) {
  add_line(page, ".TP");
  add_line(page, term);
  add_text(page, about);
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string option_term(const OptionRow& row) {
  std::string term = row.letter == 0 ? "" : bold(std::string{'-', row.letter}) + ", ";
  term += bold("--" + std::string(row.name));
  if (row.value_is_optional) return term + "[=" + italic(row.value) + "]";
  if (row.kind != ValueKind::none) term += " " + italic(row.value);
  return term;
}

std::string positional_term(const PositionalRow& row) {
  const std::string name = italic(row.name) + (row.repeats ? "..." : "");
  return row.required ? name : "[" + name + "]";
}

std::string synopsis(const CommandRow& row) {
  std::string line = bold("tend " + std::string(row.name));
  for (const OptionRow& option : row.options) {
    line += " [" + option_term(option) + "]" + (option.repeats ? "..." : "");
  }
  for (const PositionalRow& positional : row.positionals) line += " " + positional_term(positional);
  return line;
}

void add_synopsis(std::string& page, std::span<const CommandRow> table) {
  add_section(page, "SYNOPSIS");
  for (const CommandRow& row : table) {
    add_line(page, synopsis(row));
    add_line(page, ".br");
  }
  add_line(page, bold("tend --help"));
  add_line(page, ".br");
  add_line(page, bold("tend --version"));
}

void add_command(std::string& page, const CommandRow& row) {
  add_line(page, ".SS " + roff("tend " + std::string(row.name)));
  add_text(page, std::string(row.summary) + ".");
  if (!row.text.empty()) add_line(page, ".PP");
  add_paragraphs(page, row.text);
  for (const PositionalRow& positional : row.positionals) {
    add_entry(page, positional_term(positional), positional.help);
  }
  for (const OptionRow& option : all_options(row)) {
    add_entry(page, option_term(option), explain(option));
  }
}

void add_examples(std::string& page, std::span<const CommandRow> table) {
  add_section(page, "EXAMPLES");
  add_line(page, ".nf");
  for (const CommandRow& row : table) {
    for (const std::string_view example : row.examples) add_line(page, roff(example));
  }
  add_line(page, ".fi");
}

}  // namespace

std::string roff(std::string_view text) {
  constexpr std::string_view kSpecial = "\\-'`^~";
  constexpr std::string_view kEscapes[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
  std::string escaped;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_line_start = c == '\n';
    const std::size_t special = kSpecial.find(c);
    escaped += special == std::string_view::npos ? std::string_view(&c, 1) : kEscapes[special];
  }
  return escaped;
}

std::string man_page(std::span<const CommandRow> table, std::string_view version) {
  std::string page = ".\\\" Made by 'tend help --man' from the command table.\n";
  page.append(".TH TEND 1 ").append(kDate).append(" \"tend ").append(version).append("\"\n");
  add_section(page, "NAME");
  add_line(page, "tend \\- watch over long\\-running agents: signals in, verdict out");
  add_synopsis(page, table);
  add_section(page, "DESCRIPTION");
  add_paragraphs(page, kDescription);
  add_section(page, "COMMANDS");
  for (const CommandRow& row : table) add_command(page, row);
  add_section(page, "\"EXIT STATUS\"");
  for (const Entry& entry : kExitStatus) add_entry(page, bold(entry.term), entry.about);
  add_section(page, "ENVIRONMENT");
  for (const Entry& entry : kEnvironment) add_entry(page, bold(entry.term), entry.about);
  add_examples(page, table);
  return page;
}

}  // namespace tend
