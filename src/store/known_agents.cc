// What lives in a home, and which of it a person means. Only the folders on the way to the one that
// is looked at are open, and none of those that are given out: a home may hold thousands.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/suggest.h"
#include "store/agent_file.h"
#include "store/distant_folder.h"
#include "store/home.h"

namespace tend {
namespace {

using Way = std::vector<std::string>;

constexpr std::string_view kSalvage = "salvage";  // copies of work: what is in them is no agent
constexpr int kDeepestFolder = 2 * kDeepestTree;  // a role and an agent for each level
constexpr std::size_t kMostNamed = 5;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// One of its two files is enough: what is wrong with the other hides nobody below it.
Result<bool> is_agent(Folder& folder) {
  Result<bool> found = false;
  for (const std::string_view name : {kHeartbeatFile, kAgentFile}) {
    const auto facts = folder.facts(std::string(name));
    if (facts && *facts) return true;
    if (!facts) found = std::unexpected(facts.error());
  }
  return found;
}

/// What is known of an agent that has no heartbeat yet.
Result<Heartbeat> before_its_start(Folder& folder) {
  auto file = read_agent_file(folder);
  if (!file) return std::unexpected(file.error());
  Heartbeat heartbeat;
  heartbeat.agent = std::move(file->agent);
  heartbeat.session = std::move(file->session);
  heartbeat.role = std::move(file->role);
  heartbeat.parent_heartbeat = std::move(file->parent_heartbeat);
  return heartbeat;
}

/// Sets all but the folder.
void look_at(Folder& folder, std::string_view session, KnownAgent& agent) {
  auto read = read_heartbeat(folder);
  auto heartbeat = !read   ? std::unexpected(read.error())
                   : *read ? Result<Heartbeat>(**std::move(read))
                           : before_its_start(folder);
  if (!heartbeat) {
    agent.problem = heartbeat.error().text;
    // It is known by its name all the same: an order for it must not find another.
    heartbeat = before_its_start(folder);
    if (!heartbeat) return;
  }
  agent.heartbeat = *std::move(heartbeat);
  const auto facts = folder.facts(std::string(kHeartbeatFile));
  if (facts && *facts) agent.last_beat = (*facts)->modified;
  if (agent.heartbeat.agent.empty()) agent.heartbeat.agent = base_name(folder.path());
  if (agent.heartbeat.session.empty()) agent.heartbeat.session = session;
}

class Look {
 public:
  Look(std::shared_ptr<Folder> sessions, const TellAgent& tell)
      : sessions_(std::move(sessions)), tell_(tell) {}

  void all() {
    below(*sessions_, {}, "");
    if (!is_full()) return;
    KnownAgent others;
    others.problem = fmt::format("{}: has more than {} agents; the others are left out",
                                 on_one_line(sessions_->path()), kMostAgents);
    tell_(std::move(others), nullptr);
  }

 private:
  [[nodiscard]] bool is_full() const { return told_ >= kMostAgents; }

  void problem(std::string text) {
    if (is_full()) return;
    KnownAgent agent;
    agent.problem = std::move(text);
    ++told_;
    tell_(std::move(agent), nullptr);
  }

  /// Takes in the agents nearest below `folder`, which `way` leads to, each with all below it.
  void below(Folder& folder, const Way& way, std::string_view session) {
    std::vector<Way> nearest;
    gather(folder, way, nearest);
    // Names begin with the calendar, so the older one comes first, whatever its role.
    std::ranges::sort(nearest, {}, [](const Way& each) {
      return std::pair<std::string_view, const Way&>(each.back(), each);
    });
    for (const Way& each : nearest) {
      if (is_full()) return;
      take_in(folder, way.size(), each, session.empty() ? each.back() : session);
    }
  }

  /// The first parts of the way lead to `above`.
  void take_in(Folder& above, std::size_t parts, const Way& way, std::string_view session) {
    const auto folder =
        reach(above, Way(way.begin() + static_cast<std::ptrdiff_t>(parts), way.end()));
    if (!folder) return problem(folder.error().text);
    if (*folder == nullptr) return;  // gone meanwhile
    KnownAgent agent;
    agent.folder = std::make_unique<DistantFolder>(sessions_, way);
    look_at(**folder, session, agent);
    ++told_;
    tell_(std::move(agent), folder->get());
    below(**folder, way, session);
  }

  void gather(Folder& folder, const Way& way, std::vector<Way>& nearest) {
    if (way.size() >= kDeepestFolder) {
      return problem(on_one_line(folder.path()) + ": is too deep to be looked into");
    }
    const auto names = folder.folders(kMostAgents + 1);
    if (!names) return problem(names.error().text);
    for (const std::string& name : *names) {
      if (told_ + nearest.size() > kMostAgents) return;
      if (name != kSalvage && !name.starts_with('.')) gather_one(folder, name, way, nearest);
    }
  }

  void gather_one(Folder& folder, const std::string& name, Way way, std::vector<Way>& nearest) {
    const auto inner = folder.folder(name);
    if (!inner) return problem(inner.error().text);
    if (*inner == nullptr) return;
    way.push_back(name);
    const auto agent = is_agent(**inner);
    if (!agent) return problem(agent.error().text);
    if (*agent) {
      nearest.push_back(std::move(way));
    } else {
      gather(**inner, way, nearest);
    }
  }

  std::shared_ptr<Folder> sessions_;
  const TellAgent& tell_;
  std::size_t told_ = 0;
};

// ---- Which one is meant

using Agents = std::vector<const KnownAgent*>;

bool is_root(const KnownAgent& agent) { return agent.heartbeat.parent_heartbeat.empty(); }

std::string_view folder_name(const KnownAgent& agent) { return base_name(agent.folder->path()); }

/// Every agent answers to its name and its folder's; the root of a tree to that of the session too.
bool is_called(const KnownAgent& agent, std::string_view text) {
  return agent.heartbeat.agent == text || folder_name(agent) == text ||
         (is_root(agent) && agent.heartbeat.session == text);
}

/// The folders of children begin with the calendar like their root's, and would only be in its way.
bool begins_with(const KnownAgent& agent, std::string_view text) {
  return agent.heartbeat.agent.starts_with(text) ||
         (is_root(agent) &&
          (folder_name(agent).starts_with(text) || agent.heartbeat.session.starts_with(text)));
}

template <class Is>
Agents those(const Agents& agents, Is is) {
  Agents found;
  std::ranges::copy_if(agents, std::back_inserter(found),
                       [&](const KnownAgent* each) { return is(*each); });
  return found;
}

Agents of_name(const Agents& agents, std::string_view name) {
  return those(agents, [&](const KnownAgent& each) { return each.heartbeat.agent == name; });
}

/// Of those with one name the ones that are not over; if all are, the newest.
Agents narrowed(const Agents& agents) {
  Agents left;
  for (const KnownAgent* each : agents) {
    const Agents same = of_name(agents, each->heartbeat.agent);
    if (same.front() != each) continue;  // was looked at with the first of them
    const Agents living =
        those(same, [](const KnownAgent& one) { return !is_terminal(one.heartbeat.status); });
    left.insert(left.end(), living.begin(), living.end());
    if (!living.empty()) continue;
    const KnownAgent* newest = same.front();
    for (const KnownAgent* one : same) newest = is_newer(*newest, *one) ? one : newest;
    left.push_back(newest);
  }
  return left;
}

/// By their names, where these tell them apart; else by the names of their folders.
Error several(std::string_view text, const Agents& agents) {
  std::string list;
  for (std::size_t i = 0; i < std::min(agents.size(), kMostNamed); ++i) {
    const Heartbeat& heartbeat = agents[i]->heartbeat;
    const bool unique = of_name(agents, heartbeat.agent).size() == 1;
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ",
                        on_one_line(unique ? heartbeat.agent : folder_name(*agents[i])),
                        kStatusWords[static_cast<std::size_t>(heartbeat.status)]);
  }
  if (agents.size() > kMostNamed) list += fmt::format(" and {} more", agents.size() - kMostNamed);
  return Error{fmt::format("{} could mean {} agents: {}; name one of them", in_quotes(text),
                           agents.size(), list)};
}

Error none(std::string_view text, const Folder& home, const Agents& agents) {
  const std::string place = on_one_line(home.path());
  if (agents.empty())
    return Error{fmt::format("no agent {}: there are none in {}", in_quotes(text), place)};
  std::vector<std::string_view> names;
  for (const KnownAgent* each : agents) {
    const std::string& name = each->heartbeat.agent;  // empty where there is a problem
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string meant = did_you_mean(text, names);
  if (meant.empty()) {
    names.resize(std::min(names.size(), kMostNamed));
    meant = fmt::format("; there are for example: {}",
                        on_one_line(fmt::format("{}", fmt::join(names, ", "))));
  }
  return Error{fmt::format("no agent {} in {}{}", in_quotes(text), place, meant)};
}

Result<KnownAgent> agent_at(Folders& folders, std::string path) {
  if (!path.starts_with('/')) {
    const auto working = folders.working_folder();
    if (!working) return std::unexpected(working.error());
    path = *working + "/" + path;
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (base_name(path) == kHeartbeatFile) path.resize(path.size() - kHeartbeatFile.size() - 1);
  auto folder = folders.open(path);
  if (!folder) return std::unexpected(folder.error());
  const auto agent = is_agent(**folder);
  if (!agent) return std::unexpected(agent.error());
  if (!*agent) return fail(on_one_line(path) + ": is no folder of an agent");
  KnownAgent known;
  look_at(**folder, "", known);
  known.folder = *std::move(folder);
  return known;
}

}  // namespace

bool is_newer(const KnownAgent& before, const KnownAgent& after) {
  return after.heartbeat.started >= before.heartbeat.started;
}

Result<void> for_each_agent(Folder& home, const TellAgent& tell) {
  auto sessions = home.folder(std::string(kSessionsFolder));
  if (!sessions) return std::unexpected(sessions.error());
  if (*sessions != nullptr) Look(*std::move(sessions), tell).all();
  return {};
}

Result<std::vector<KnownAgent>> agents_of(Folder& home) {
  std::vector<KnownAgent> agents;
  const auto told = for_each_agent(
      home, [&](KnownAgent known, Folder* /*open*/) { agents.push_back(std::move(known)); });
  if (!told) return std::unexpected(told.error());
  return agents;
}

Result<KnownAgent> find_agent(Folders& folders, Folder& home, const std::string& text) {
  if (text.find('/') != std::string::npos) return agent_at(folders, text);
  const auto known = agents_of(home);
  if (!known) return std::unexpected(known.error());
  Agents all;
  for (const KnownAgent& each : *known) {
    if (each.folder) all.push_back(&each);
  }
  Agents meant = those(all, [&](const KnownAgent& each) { return is_called(each, text); });
  if (meant.empty() && !text.empty()) {
    meant = those(all, [&](const KnownAgent& each) { return begins_with(each, text); });
  }
  meant = narrowed(meant);
  if (meant.empty()) return std::unexpected(none(text, home, all));
  if (meant.size() > 1) return std::unexpected(several(text, meant));
  auto folder = folders.open(meant.front()->folder->path());
  if (!folder) return std::unexpected(folder.error());
  const KnownAgent& found = *meant.front();
  return KnownAgent{*std::move(folder), found.heartbeat, found.last_beat, found.problem};
}

}  // namespace tend
