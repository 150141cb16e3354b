// Groups that processes cannot leave: folders of cgroup2, all of them siblings named tend-NAME.
// Nothing here touches a group with another name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tend {

/// The folder in which our groups are made, from the texts of /proc/self/mountinfo and
/// /proc/self/cgroup; "" if there is none. Pure, but for asking `is_cgroup2` about a mount.
std::string groups_folder(std::string_view mounts, std::string_view own_group,
                          bool (*is_cgroup2)(const std::string& folder));

/// The folder that holds the group of ours that we are in, from the same texts; "" if we are in
/// none.
std::string folder_outside_groups(std::string_view mounts, std::string_view own_group,
                                  bool (*is_cgroup2)(const std::string& folder));
/// The same, found out now.
std::string folder_outside_groups();

/// New and empty; "" if it cannot be made. `folder` is where groups were made the last time, "" at
/// first; it is looked for anew when it is no place for them any more.
std::string make_group(const std::string& name, std::string& folder);
std::vector<std::int64_t> group_members(const std::string& group);
/// With the groups below it. False if it cannot be read.
bool group_is_empty(const std::string& group);
/// Tries for some milliseconds while it is still in use.
void remove_group(const std::string& group);

}  // namespace tend
