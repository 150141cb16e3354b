// A letter is marked as read after it was printed to its end: it is rather shown twice than lost.
#include "app/mail_commands.h"

#include <algorithm>
#include <array>
#include <expected>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/actor.h"
#include "app/agent_json.h"
#include "app/columns.h"
#include "app/home_records.h"
#include "app/mail_view.h"
#include "app/number_option.h"
#include "base/quote.h"
#include "store/mail.h"

namespace tend {
namespace {

constexpr std::string_view kWhereLettersAre = "`tend mail inbox` shows them";

/// What mail commands have open, and who asks.
struct Post {
  HomeRecords records;
  Mailbox mail;
  std::string actor;
};

/// An exit code if it cannot be opened; why was said.
std::expected<Post, int> open_post(World& world, std::string_view command,
                                   const std::optional<std::string>& typed_actor) {
  auto actor = actor_or_else(typed_actor, world);
  if (!actor) {
    return std::unexpected(complain(world, command, actor.error().text, kExitUsage));
  }
  auto records = open_home_records(world);
  if (!records) {
    return std::unexpected(complain(world, command, records.error().text, kExitNo));
  }
  Mailbox mail(*records->database);
  return Post{*std::move(records), mail, std::move(actor->name)};
}

std::string no_such_letter(std::int64_t id) {
  return fmt::format("there is no letter {}; {}", id, kWhereLettersAre);
}

// --- Sending ------------------------------------------------------------------------------------

Result<std::string> standard_input(World& world) {
  auto source = world.files.open("-");
  if (!source) return std::unexpected(source.error());
  std::string text;
  std::array<char, 16'384> piece{};
  while (true) {
    const auto got = (*source)->read(piece);
    if (!got) return std::unexpected(got.error());
    if (*got == 0) return text;
    text.append(piece.data(), *got);
    if (text.size() > kLongestBody) {
      return fail(fmt::format("the body is longer than {} bytes", kLongestBody));
    }
  }
}

Result<std::optional<std::string>> sender_typed(const Arguments& arguments) {
  auto from = arguments.value("from");
  auto actor = arguments.value("actor");
  if (from && actor && *from != *actor) {
    return fail("--from and --actor say two names; choose one");
  }
  return from ? std::move(from) : std::move(actor);
}

Result<Letter> draft_of(const Arguments& arguments, World& world, const std::string& from) {
  Letter draft;
  draft.from = from;
  draft.to = arguments.positionals.front();
  draft.subject = arguments.value("subject").value_or("");
  if (draft.subject.empty()) return fail("needs --subject TEXT: what it is about, in a line");
  if (const auto text = arguments.value("reply-to")) {
    const auto id = number_from_1(*text, "--reply-to wants the number of a letter");
    if (!id) return std::unexpected(id.error());
    draft.reply_to = *id;
  }
  draft.body = arguments.value("body").value_or("");
  if (draft.body == "-") {
    auto body = standard_input(world);
    if (!body) return std::unexpected(body.error());
    draft.body = *std::move(body);
  }
  if (auto ok = check_letter(draft); !ok) return std::unexpected(ok.error());
  return draft;
}

// --- Reading ------------------------------------------------------------------------------------

Result<std::int64_t> letter_number(const std::string& text) {
  return number_from_1(text, fmt::format("wants the number of a letter ({})", kWhereLettersAre));
}

void print_inbox(const Arguments& arguments, World& world, const Post& post,
                 std::span<const Letter> letters) {
  if (arguments.has("json")) {
    for (const Letter& letter : letters) world.out.write(json_line(letter_json(letter)));
  } else if (letters.empty()) {
    world.out.write(fmt::format("no {}letters for {}\n",
                                arguments.has("all")      ? ""
                                : arguments.has("unread") ? "unread "
                                                          : "unacknowledged ",
                                on_one_line(post.actor)));
  } else {
    world.out.write(letters_for_people(letters, Look(world.out, world.environment),
                                       screen_width(world.out), post.records.now()));
  }
}

int ack_one(const Arguments& arguments, World& world, Post& post, std::int64_t id) {
  const auto refuse = [&](const std::string& text) {
    return complain(world, "mail ack", text, kExitNo);
  };
  const auto did = post.mail.ack(id, post.actor, post.records.now());
  if (!did) return refuse(did.error().text);
  if (*did == LetterDid::no_such_letter) return refuse(no_such_letter(id));
  const auto letter = post.mail.find(id);
  if (!letter) return refuse(letter.error().text);
  if (!*letter) return refuse(no_such_letter(id));  // pruned meanwhile
  if (*did == LetterDid::not_yours) {
    return refuse(fmt::format("letter {} is for {}, not for {}; only who it is for acknowledges it",
                              id, on_one_line((*letter)->to), on_one_line(post.actor)));
  }
  if (arguments.has("json")) {
    world.out.write(json_line(letter_json(**letter)));
  } else if (!arguments.has("quiet")) {
    world.out.write(
        fmt::format("{}: acknowledged{}\n", id, *did == LetterDid::as_before ? " already" : ""));
  }
  return kExitYes;
}

}  // namespace

int mail_send_command(const Arguments& arguments, World& world) {
  const auto typed = sender_typed(arguments);
  if (!typed) return complain(world, "mail send", typed.error().text, kExitUsage);
  auto post = open_post(world, "mail send", *typed);
  if (!post) return post.error();
  const auto draft = draft_of(arguments, world, post->actor);
  if (!draft) return complain(world, "mail send", draft.error().text, kExitUsage);
  const auto id = post->mail.send(*draft, post->records.now());
  if (!id) return complain(world, "mail send", id.error().text, kExitNo);
  if (!arguments.has("json")) {
    world.out.write(fmt::format("{}\n", *id));
    return kExitYes;
  }
  const auto letter = post->mail.find(*id);
  if (!letter) return complain(world, "mail send", letter.error().text, kExitNo);
  world.out.write(json_line(letter_json(letter->value_or(*draft))));
  return kExitYes;
}

int mail_inbox_command(const Arguments& arguments, World& world) {
  if (arguments.has("all") && arguments.has("unread")) {
    return complain(world, "mail inbox", "--all and --unread: choose one", kExitUsage);
  }
  auto post = open_post(world, "mail inbox", arguments.value("actor"));
  if (!post) return post.error();
  const LetterView view = arguments.has("all")      ? LetterView::all
                          : arguments.has("unread") ? LetterView::unread
                                                    : LetterView::unacked;
  const auto letters = post->mail.inbox(post->actor, view);
  if (!letters) return complain(world, "mail inbox", letters.error().text, kExitNo);
  print_inbox(arguments, world, *post, *letters);
  if (std::cmp_equal(letters->size(), kMostListed)) {
    return complain(world, "mail inbox",
                    fmt::format("only the {} {} are shown; `tend mail ack` makes room",
                                view == LetterView::all ? "newest" : "oldest", kMostListed),
                    kExitYes);
  }
  return kExitYes;
}

int mail_read_command(const Arguments& arguments, World& world) {
  const auto id = letter_number(arguments.positionals.front());
  if (!id) return complain(world, "mail read", id.error().text, kExitUsage);
  auto post = open_post(world, "mail read", arguments.value("actor"));
  if (!post) return post.error();
  const auto letter = post->mail.find(*id);
  if (!letter) return complain(world, "mail read", letter.error().text, kExitNo);
  if (!*letter) return complain(world, "mail read", no_such_letter(*id), kExitNo);
  world.out.write(arguments.has("json") ? json_line(letter_json(**letter))
                                        : letter_in_words(**letter));
  if ((*letter)->to != post->actor) {
    return complain(world, "mail read",
                    fmt::format("letter {} is for {}, not for {}, and stays {}", *id,
                                on_one_line((*letter)->to), on_one_line(post->actor),
                                (*letter)->read_at ? "as it is" : "unread"),
                    kExitYes);
  }
  if (!world.out.flush()) return kExitYes;
  const auto marked = post->mail.read(*id, post->actor, post->records.now());
  if (!marked) return complain(world, "mail read", marked.error().text, kExitNo);
  return kExitYes;
}

int mail_ack_command(const Arguments& arguments, World& world) {
  std::vector<std::int64_t> ids;
  for (const std::string& text : arguments.positionals) {
    const auto id = letter_number(text);
    if (!id) return complain(world, "mail ack", id.error().text, kExitUsage);
    ids.push_back(*id);
  }
  auto post = open_post(world, "mail ack", arguments.value("actor"));
  if (!post) return post.error();
  int exit = kExitYes;
  for (const std::int64_t id : ids) {
    exit = std::max(exit, ack_one(arguments, world, *post, id));
  }
  return exit;
}

int mail_thread_command(const Arguments& arguments, World& world) {
  const auto id = letter_number(arguments.positionals.front());
  if (!id) return complain(world, "mail thread", id.error().text, kExitUsage);
  auto records = open_home_records(world);
  if (!records) return complain(world, "mail thread", records.error().text, kExitNo);
  const auto letters = Mailbox(*records->database).thread(*id);
  if (!letters) return complain(world, "mail thread", letters.error().text, kExitNo);
  if (letters->empty()) return complain(world, "mail thread", no_such_letter(*id), kExitNo);
  bool is_first = true;
  for (const Letter& letter : *letters) {
    if (arguments.has("json")) {
      world.out.write(json_line(letter_json(letter)));
    } else {
      world.out.write((is_first ? "" : "\n") + letter_in_words(letter));
    }
    is_first = false;
  }
  return kExitYes;
}

}  // namespace tend
