// Edges run only between a parent and its child, so a circle is an edge that has its own opposite.
#include "judge/waits.h"

namespace tend {
namespace {

/// As the judge sees its children: an idle one has nothing more to do.
bool has_ended(Verdict verdict) {
  switch (verdict) {
    case Verdict::finished:
    case Verdict::dead:
    case Verdict::idle:
    case Verdict::orphaned:
      return true;
    case Verdict::starting:
    case Verdict::working:
    case Verdict::waiting:
    case Verdict::suspect:
    case Verdict::stalled:
    case Verdict::looping:
    case Verdict::unknown:
      break;
  }
  return false;
}

bool waits_for_children(const WaitingOne& one) {
  return one.phase == Phase::children && !has_ended(one.verdict);
}

bool waits_for_parent(const WaitingOne& one) { return one.for_parent && !has_ended(one.verdict); }

const WaitingOne* parent_of(std::span<const WaitingOne> all, std::size_t child) {
  const auto parent = all[child].parent;
  return parent && *parent < all.size() && *parent != child ? &all[*parent] : nullptr;
}

}  // namespace

std::vector<WaitsFor> waits_among(std::span<const WaitingOne> all) {
  std::vector<WaitsFor> waits(all.size());
  std::vector<bool> has_children(all.size());
  for (std::size_t child = 0; child < all.size(); ++child) {
    const WaitingOne* const parent = parent_of(all, child);
    if (parent == nullptr) continue;
    has_children[*all[child].parent] = true;
    if (!waits_for_children(*parent) || has_ended(all[child].verdict)) continue;
    waits[*all[child].parent].on.push_back(child);
  }
  for (std::size_t child = 0; child < all.size(); ++child) {
    const WaitingOne* const parent = parent_of(all, child);
    if (parent == nullptr || !waits_for_parent(all[child]) || has_ended(parent->verdict)) continue;
    waits[child].on.push_back(*all[child].parent);
    if (!waits_for_children(*parent)) continue;
    waits[child].in_circle = true;
    waits[*all[child].parent].in_circle = true;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool for_children = waits_for_children(all[i]) && has_children[i];
    waits[i].only_ended = for_children && waits[i].on.empty();
  }
  return waits;
}

}  // namespace tend
