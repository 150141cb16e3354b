// Which folder a name leads to, whatever the name is.
#include "store/names.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class Names : public testing::Test {
 protected:
  Names() : home(universe.machine().folders.make("/home/user/tend").value()) {}

  void name(const std::string& name, const std::string& path) {
    const auto named = name_folder(*home, name, path);
    EXPECT_TRUE(named.has_value()) << (named ? "" : named.error().text);
  }
  std::optional<std::string> folder(const std::string& name) {
    return named_folder(*home, name).value();
  }
  std::vector<std::string> files() { return universe.disk.files("/home/user/tend/names"); }

  SimUniverse universe;
  std::unique_ptr<Folder> home;
};

TEST_F(Names, lead_nowhere_before_somebody_has_them) {
  EXPECT_EQ(folder("coder"), std::nullopt);
  EXPECT_FALSE(universe.disk.exists("/home/user/tend/names")) << "looking makes nothing";
  name("coder", "/home/user/tend/sessions/s1");
  EXPECT_EQ(folder("tester"), std::nullopt);
}

TEST_F(Names, lead_to_who_had_them_last) {
  name("coder", "/home/user/tend/sessions/s1");
  name("tester", "/home/user/tend/sessions/s2");
  EXPECT_EQ(folder("coder"), "/home/user/tend/sessions/s1");
  name("coder", "/home/user/tend/sessions/s3");
  EXPECT_EQ(folder("coder"), "/home/user/tend/sessions/s3");
  EXPECT_EQ(files(), (std::vector<std::string>{"/home/user/tend/names/coder",
                                               "/home/user/tend/names/tester"}));
}

TEST_F(Names, of_any_bytes_are_told_apart) {
  const std::vector<std::string> odd{
      ".",           "..",  ".hidden", "a/b",      "../../etc/passwd",     "a b", "%2e", "a\nb",
      "k\xc3\xa4se", "a.b", "a%2fb",   "tmux-0:1", std::string("a\0b", 3), "A",   "a",   "\xff"};
  for (const std::string& each : odd) name(each, "/of/" + each);
  for (const std::string& each : odd) EXPECT_EQ(folder(each), "/of/" + each) << each;
  EXPECT_EQ(files().size(), odd.size());
  for (const std::string& file : files()) {
    EXPECT_FALSE(file.substr(file.rfind('/') + 1).starts_with('.')) << file;
  }
}

TEST_F(Names, that_are_too_long_for_a_file_are_told_apart_too) {
  const std::string plain(200, 'x');
  const std::string a = std::string(300, 'x') + "a";
  const std::string b = std::string(300, 'x') + "b";
  const std::string spaces(100, ' ');
  for (const std::string& each : {plain, a, b, spaces}) name(each, "/of/" + each);
  for (const std::string& each : {plain, a, b, spaces}) EXPECT_EQ(folder(each), "/of/" + each);
  for (const std::string& file : files()) {
    EXPECT_LE(file.size() - file.rfind('/') - 1, 200U) << file;
  }
}

TEST_F(Names, that_cannot_be_understood_lead_nowhere) {
  for (const char* text : {"", "\n", "sessions/s1\n", "/torn"}) {
    universe.disk.write("/home/user/tend/names/coder", text);
    EXPECT_EQ(folder("coder"), std::nullopt) << text;
  }
}

TEST_F(Names, are_not_empty_and_lead_to_absolute_paths) {
  EXPECT_EQ(named_folder(*home, "").error().text, "an agent needs a name");
  EXPECT_EQ(name_folder(*home, "", "/a").error().text, "an agent needs a name");
  EXPECT_EQ(name_folder(*home, "coder", "s1").error().text,
            "'s1' is no absolute path of an agent's folder");
}

TEST_F(Names, say_when_they_cannot_be_written) {
  universe.disk.broken = "Input/output error";
  EXPECT_FALSE(name_folder(*home, "coder", "/a").has_value());
}

TEST_F(Names, survive_a_power_cut) {
  ASSERT_TRUE(name_folder(*home, "coder", "/home/user/tend/sessions/s1"));
  universe.reboot({.lost = SimReboot::Lost::unsynced});
  home = universe.machine().folders.open("/home/user/tend").value();
  EXPECT_EQ(folder("coder"), "/home/user/tend/sessions/s1");
}

}  // namespace
}  // namespace tend
