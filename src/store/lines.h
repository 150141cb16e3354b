// Files of lines that grow at their end, one write a line, and are read while they do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

/// Appends a line in one write, with its newline. A last line that has none is ended first: its
/// writer died in the middle. With Sync::yes it survives a power cut.
Result<void> append_line(Folder& folder, std::string_view name, std::string_view line,
                         Folder::Sync sync);

/// Takes the first line off a text, without its newline. Requires that the text is not empty.
std::string_view take_line(std::string_view& text);

/// The end of a file, at most `most` bytes, from the start of a line. Empty if there is none.
Result<std::string> last_lines(Folder& folder, std::string_view name, std::size_t most);

}  // namespace tend
