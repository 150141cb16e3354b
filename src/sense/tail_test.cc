// A file that grows, is cut, is replaced, has holes; and bytes that become lines.
#include "sense/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sense/line_splitter.h"

namespace tend {
namespace {

constexpr std::uint64_t kBlock = 4096;

/// What is on the disk under a name, for as long as somebody has it open.
struct Contents {
  std::string bytes;
  std::uint64_t identity = 0;
  std::uint64_t hole = 0;  // the blocks before this hold no data
  int asked = 0;           // for its facts, by whoever has it open
};

/// Only what reading needs; everything else fails.
class FakeFile final : public File {
 public:
  FakeFile(std::shared_ptr<Contents> contents, const bool& broken)
      : contents_(std::move(contents)), broken_(broken) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (broken_) return fail("cannot read it: Input/output error");
    const std::string& bytes = contents_->bytes;
    if (offset >= bytes.size()) return 0;
    const std::size_t size = std::min<std::size_t>(into.size(), bytes.size() - offset);
    std::memcpy(into.data(), bytes.data() + offset, size);
    return size;
  }
  Result<FileFacts> facts() override {
    ++contents_->asked;
    return FileFacts{contents_->bytes.size(), contents_->identity, {}};
  }
  Result<std::uint64_t> data_from(std::uint64_t offset) override {
    const std::uint64_t hole_end = contents_->hole / kBlock * kBlock;
    return std::min<std::uint64_t>(std::max(offset, hole_end), contents_->bytes.size());
  }
  Result<void> append(std::string_view /*bytes*/) override { return no(); }
  Result<void> overwrite(std::string_view /*bytes*/) override { return no(); }
  Result<void> touch() override { return no(); }
  Result<void> touch(WallTime /*modified*/) override { return no(); }
  Result<void> punch(std::uint64_t /*end*/) override { return no(); }
  Result<void> cut(std::uint64_t /*size*/) override { return no(); }
  Result<void> sync() override { return no(); }
  Result<bool> lock() override { return fail("read only"); }
  Result<bool> is_locked() override { return fail("read only"); }

 private:
  static Result<void> no() { return fail("read only"); }

  std::shared_ptr<Contents> contents_;
  const bool& broken_;
};

class FakeFolder final : public Folder {
 public:
  void put(const std::string& name, std::string bytes) {
    files[name] = std::make_shared<Contents>(Contents{std::move(bytes), ++identities_, 0});
  }

  [[nodiscard]] const std::string& path() const override { return path_; }
  Result<std::unique_ptr<File>> open(const std::string& name, Open /*how*/) override {
    ++opened;
    const auto found = files.find(name);
    if (found == files.end()) return fail("no such file");
    return std::make_unique<FakeFile>(found->second, broken);
  }
  Result<std::optional<FileFacts>> facts(const std::string& name) override {
    ++looked;
    if (blind) return fail("cannot look: Input/output error");
    const auto found = files.find(name);
    if (found == files.end()) return std::nullopt;
    return FileFacts{found->second->bytes.size(), found->second->identity, {}};
  }
  Result<std::optional<std::string>> read(const std::string& /*name*/,
                                          std::size_t /*most*/) override {
    return fail("not here");
  }
  Result<void> replace(const std::string& /*name*/, std::string_view /*bytes*/, Sync /*sync*/,
                       std::optional<WallTime> /*modified*/) override {
    return fail("not here");
  }
  Result<bool> make_file(const std::string& /*name*/, std::string_view /*bytes*/,
                         Sync /*sync*/) override {
    return fail("not here");
  }
  Result<void> rename(const std::string& /*from*/, const std::string& /*to*/) override {
    return fail("not here");
  }
  Result<void> remove(const std::string& /*name*/) override { return fail("not here"); }
  Result<std::unique_ptr<Folder>> folder(const std::string& /*name*/) override {
    return fail("not here");
  }
  Result<std::unique_ptr<Folder>> make_folder(const std::string& /*name*/) override {
    return fail("not here");
  }
  Result<std::unique_ptr<Folder>> make_new_folder(const std::string& /*name*/) override {
    return fail("not here");
  }
  Result<std::vector<std::string>> folders(std::size_t /*most*/) override {
    return fail("not here");
  }
  Result<std::vector<std::string>> file_names(std::size_t /*most*/) override {
    return fail("not here");
  }
  void sweep(Duration /*ago*/) override {}

  std::map<std::string, std::shared_ptr<Contents>> files;
  bool broken = false;  // reading fails
  bool blind = false;   // looking up a name fails
  int opened = 0;
  int looked = 0;  // for what a name stands for

 private:
  std::string path_ = "/somewhere";
  std::uint64_t identities_ = 0;
};

class TailTest : public testing::Test {
 protected:
  std::string& bytes() { return folder.files["f"]->bytes; }
  /// "abc", with "cut " or "hole " before it.
  static std::string next_of(Tail& from) {
    const auto got = from.read();
    if (!got) return "error: " + got.error().text;
    return std::string(got->cut ? "cut " : "") + (got->skipped ? "hole " : "") +
           std::string(got->bytes);
  }
  std::string next() { return next_of(tail); }

  FakeFolder folder;
  Tail tail{folder, "f", 0};
};

TEST_F(TailTest, waits_for_a_file_that_is_not_there_yet) {
  EXPECT_EQ(next(), "");
  EXPECT_EQ(folder.opened, 0);
  folder.put("f", "one");
  EXPECT_EQ(next(), "one");
  EXPECT_EQ(next(), "");
  bytes() += " two";
  EXPECT_EQ(next(), " two");
  EXPECT_EQ(tail.offset(), 7U);
  EXPECT_EQ(folder.opened, 1);
}

TEST_F(TailTest, begins_where_it_is_told) {
  folder.put("f", "0123456789");
  Tail late(folder, "f", 7);
  EXPECT_EQ(next_of(late), "789");
}

TEST_F(TailTest, gives_a_large_file_in_pieces) {
  folder.put("f", std::string(600'000, 'x'));
  EXPECT_EQ(next().size(), 262'144U);
  EXPECT_EQ(next().size(), 262'144U);
  EXPECT_EQ(next().size(), 600'000U - 2 * 262'144U);
  EXPECT_EQ(next(), "");
}

TEST_F(TailTest, reads_a_file_that_was_cut_from_its_start) {
  folder.put("f", "a long line");
  next();
  bytes() = "new";
  EXPECT_EQ(next(), "cut new");
  EXPECT_EQ(tail.offset(), 3U);
  bytes() = "";
  EXPECT_EQ(next(), "cut ");
  EXPECT_EQ(next(), "");
}

TEST_F(TailTest, takes_an_offset_behind_the_end_for_a_cut) {
  folder.put("f", "short");
  Tail late(folder, "f", 1000);
  EXPECT_EQ(next_of(late), "cut short");
}

TEST_F(TailTest, reads_a_replaced_file_to_its_end_and_then_the_new_one) {
  folder.put("f", "old");
  EXPECT_EQ(next(), "old");
  const auto old = folder.files["f"];
  old->bytes += " end";
  folder.put("f", "a new file that is longer");
  EXPECT_EQ(next(), " end");
  EXPECT_EQ(next(), "cut a new file that is longer");
  EXPECT_EQ(next(), "");
}

TEST_F(TailTest, keeps_to_a_file_whose_name_is_gone) {
  folder.put("f", "one");
  next();
  const auto open = folder.files["f"];
  folder.files.clear();
  open->bytes += " two";
  EXPECT_EQ(next(), " two");
  EXPECT_EQ(next(), "");
  folder.put("f", "three");
  EXPECT_EQ(next(), "cut three");
}

TEST_F(TailTest, passes_over_a_hole) {
  folder.put("f", std::string(5000, '\0') + "behind it");
  folder.files["f"]->hole = 5000;
  EXPECT_EQ(next(), "hole behind it");
  EXPECT_EQ(tail.offset(), 5009U);
}

TEST_F(TailTest, passes_over_a_hole_that_reaches_to_the_end) {
  folder.put("f", std::string(3 * kBlock, '\0'));
  folder.files["f"]->hole = 3 * kBlock;
  EXPECT_EQ(next(), "hole ");
  EXPECT_EQ(next(), "");
  bytes() += "on";
  EXPECT_EQ(next(), "on");
}

TEST_F(TailTest, keeps_zeros_that_were_written) {
  using namespace std::string_literals;
  folder.put("f", "a");
  next();
  bytes() += "\0b"s;
  EXPECT_EQ(next(), "\0b"s);
}

TEST_F(TailTest, tells_what_went_wrong_and_goes_on_later) {
  folder.put("f", "one");
  folder.broken = true;
  EXPECT_EQ(next(), "error: cannot read it: Input/output error");
  folder.broken = false;
  EXPECT_EQ(next(), "one");
  folder.blind = true;
  EXPECT_EQ(next(), "error: cannot look: Input/output error");
  bytes() += " two";
  EXPECT_EQ(next(), " two") << "the open file can still be read";
  EXPECT_EQ(next(), "error: cannot look: Input/output error");
  folder.blind = false;
  EXPECT_EQ(next(), "");
}

TEST_F(TailTest, asks_once_while_there_is_nothing_new) {
  folder.put("f", "one");
  EXPECT_EQ(next(), "one");
  EXPECT_EQ(next(), "");
  const int looked = folder.looked;
  const int asked = folder.files["f"]->asked;
  EXPECT_EQ(next(), "");
  EXPECT_EQ(folder.looked, looked + 1);
  EXPECT_EQ(folder.files["f"]->asked, asked);
  EXPECT_EQ(folder.opened, 1);
}

TEST_F(TailTest, sees_a_new_file_of_the_same_size_as_the_old_one) {
  folder.put("f", "one");
  EXPECT_EQ(next(), "one");
  folder.put("f", "two");
  EXPECT_EQ(next(), "cut two");
}

class LineFeedTest : public testing::Test {
 protected:
  static constexpr std::size_t kMiB = std::size_t{1024} * 1024;

  void take(std::string_view line) {
    for (std::size_t i = 0; i < LineSplitter::kPadding; ++i) {
      padding_ += static_cast<unsigned char>(line.data()[line.size() + i]);
    }
    lines.emplace_back(line);
  }

  std::vector<std::string> lines;
  std::vector<std::uint64_t> too_long;
  LineFeed feed{[this](std::string_view line) { take(line); },
                [this](std::uint64_t size) { too_long.push_back(size); }};

 private:
  std::uint64_t padding_ = 0;  // touched, so that a sanitizer sees what may not be read
};

TEST_F(LineFeedTest, splits_alike_however_the_pieces_fall) {
  const std::string text = "one\n\ntwo\r\n" + std::string(300, 'x') + "\nlast";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    lines.clear();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::vector<char> exact(
          text.begin() + static_cast<std::ptrdiff_t>(at),
          text.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, text.size())));
      feed.feed({exact.data(), exact.size()});
    }
    EXPECT_EQ(feed.kept(), 4U);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two\r", std::string(300, 'x')}));
    feed.flush();
    EXPECT_EQ(lines.back(), "last");
    EXPECT_EQ(feed.kept(), 0U);
  }
}

TEST_F(LineFeedTest, forgets_what_it_kept_back) {
  feed.feed("half a li");
  feed.reset();
  feed.feed("whole\n");
  feed.flush();
  EXPECT_EQ(lines, std::vector<std::string>{"whole"});
}

TEST_F(LineFeedTest, gives_out_a_line_of_the_longest_length) {
  feed.feed(std::string(LineFeed::kLongestLine - 1, 'x'));
  feed.feed("y\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].size(), LineFeed::kLongestLine);
  EXPECT_TRUE(too_long.empty());
}

TEST_F(LineFeedTest, passes_over_a_line_that_is_too_long) {
  const std::string piece(kMiB, 'x');
  for (int i = 0; i < 100; ++i) feed.feed(piece);
  EXPECT_EQ(feed.kept(), 100 * kMiB);
  feed.feed("end\nnext\n");
  EXPECT_EQ(too_long, std::vector<std::uint64_t>{100 * kMiB + 3});
  EXPECT_EQ(lines, std::vector<std::string>{"next"});
}

TEST_F(LineFeedTest, passes_over_a_line_that_is_too_long_within_one_piece) {
  feed.feed(std::string(LineFeed::kLongestLine + 1, 'x') + "\n" + std::string(100, 'y') + "\n");
  EXPECT_EQ(too_long, std::vector<std::uint64_t>{LineFeed::kLongestLine + 1});
  EXPECT_EQ(lines, std::vector<std::string>{std::string(100, 'y')});
}

TEST_F(LineFeedTest, tells_of_a_long_line_that_never_ends) {
  feed.feed(std::string(LineFeed::kLongestLine + 1, 'x'));
  feed.flush();
  EXPECT_EQ(too_long, std::vector<std::uint64_t>{LineFeed::kLongestLine + 1});
  feed.flush();
  EXPECT_EQ(too_long.size(), 1U);
}

TEST_F(LineFeedTest, may_end_lines_at_returns_too) {
  LineFeed bars([this](std::string_view line) { take(line); }, [](std::uint64_t) {},
                LineFeed::Ends::newline_or_return);
  bars.feed("10%\r20%\r");
  EXPECT_EQ(lines, (std::vector<std::string>{"10%", "20%"}));
  bars.feed("done\r\n");
  EXPECT_EQ(lines, (std::vector<std::string>{"10%", "20%", "done", ""}));
}

}  // namespace
}  // namespace tend
