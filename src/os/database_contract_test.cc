// What holds of databases on the real machine and on the simulated one.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "os/linux/linux_machine.h"
#include "os/linux/temporary_folder.h"
#include "os/machine.h"
#include "os/sim/sim_universe.h"

namespace tend {
namespace {

class OnLinux {
 public:
  [[nodiscard]] Databases& databases() { return machine_.machine().databases; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  /// No file can grow from now on, as on a disk that is full.
  void fill() {
    ::signal(SIGXFSZ, SIG_IGN);  // NOLINT(cert-err33-c)
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{.rlim_cur = 1, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  void make_room() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  /// False if this user may read everything.
  [[nodiscard]] bool make_unreadable(const std::string& name) const {
    return ::chmod(path(name).c_str(), 0) == 0 && ::geteuid() != 0;
  }
  void make_readable(const std::string& name) const { ::chmod(path(name).c_str(), 0600); }

 private:
  TemporaryFolder folder_;
  LinuxMachine machine_;
  rlimit before_{};
};

class OnSim {
 public:
  [[nodiscard]] Databases& databases() { return universe_.machine().databases; }
  [[nodiscard]] static std::string path(const std::string& name) { return "/home/user/" + name; }
  void fill() { universe_.disk.room = 0; }
  void make_room() { universe_.disk.room.reset(); }
  [[nodiscard]] bool make_unreadable(const std::string& name) {
    return universe_.databases.at(path(name))->unreadable = true;
  }
  void make_readable(const std::string& name) {
    universe_.databases.at(path(name))->unreadable = false;
  }

 private:
  SimUniverse universe_;
};

template <class Which>
class DatabaseContract : public testing::Test {
 protected:
  std::unique_ptr<Database> open(const std::string& name = "one.db") {
    auto opened = which_.databases().open(which_.path(name), {});
    EXPECT_TRUE(opened) << opened.error().text;
    return *std::move(opened);
  }
  /// With a table of numbers, which has these.
  std::unique_ptr<Database> open_with(const std::vector<std::int64_t>& numbers) {
    auto database = open();
    EXPECT_TRUE(database->run_script("CREATE TABLE numbers(n INTEGER PRIMARY KEY, name TEXT)"));
    for (const std::int64_t n : numbers) EXPECT_TRUE(put(*database, n));
    return database;
  }
  static Result<std::int64_t> put(Database& database, std::int64_t n) {
    return database.run("INSERT INTO numbers(n) VALUES(?)", {n});
  }
  static std::vector<std::int64_t> numbers(Database& database) {
    std::vector<std::int64_t> all;
    const auto read = database.each("SELECT n FROM numbers ORDER BY n", {},
                                    [&](const DatabaseRow& row) { all.push_back(row.number(0)); });
    EXPECT_TRUE(read) << read.error().text;
    return all;
  }
  using Numbers = std::vector<std::int64_t>;

  Which which_;
};

using Both = testing::Types<OnLinux, OnSim>;
class Names {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, OnLinux> ? "linux" : "sim";
  }
};
TYPED_TEST_SUITE(DatabaseContract, Both, Names);

TYPED_TEST(DatabaseContract, keeps_what_was_done_for_whoever_opens_it_next) {
  this->open_with({1, 2}).reset();
  const auto again = this->open();
  EXPECT_EQ(this->numbers(*again), (std::vector<std::int64_t>{1, 2}));
  const auto beside = this->open();
  EXPECT_TRUE(this->put(*again, 3));
  EXPECT_EQ(this->numbers(*beside), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(again->path(), this->which_.path("one.db"));
  this->open("other.db").reset();
  EXPECT_FALSE(this->open("other.db")->run("SELECT * FROM numbers")) << "another path, another one";
}

TYPED_TEST(DatabaseContract, gives_values_back_as_they_were_given) {
  const auto database = this->open();
  ASSERT_TRUE(database->run_script("CREATE TABLE v(k INTEGER, number, text)"));
  const std::string zeros("a\0b", 3);
  const std::string large(1'000'000, 'x');
  const std::vector<std::optional<std::int64_t>> given_numbers{
      0, -1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
      std::nullopt};
  const std::vector<std::optional<std::string>> given_texts{"", "Grüße\n'; DROP TABLE v", zeros,
                                                            large, std::nullopt};
  for (std::size_t i = 0; i < given_numbers.size(); ++i) {
    const auto ran = database->run(
        "INSERT INTO v VALUES(?, ?, ?)",
        {static_cast<std::int64_t>(i), value_or_null(given_numbers[i]),
         given_texts[i] ? DatabaseValue(std::string_view(*given_texts[i])) : DatabaseValue()});
    ASSERT_TRUE(ran) << ran.error().text;
    EXPECT_EQ(*ran, 1);
  }
  std::size_t i = 0;
  ASSERT_TRUE(database->each("SELECT number, text FROM v ORDER BY k", {}, [&](const auto& row) {
    EXPECT_EQ(row.number_or_none(0), given_numbers.at(i));
    EXPECT_EQ(row.text_or_none(1), given_texts.at(i));
    EXPECT_EQ(row.is_null(1), !given_texts.at(i));
    EXPECT_EQ(row.text(1), given_texts.at(i).value_or(""));
    ++i;
  }));
  EXPECT_EQ(i, given_numbers.size());
}

TYPED_TEST(DatabaseContract, says_how_many_rows_were_changed) {
  const auto database = this->open_with({1, 2, 3});
  EXPECT_EQ(database->run("UPDATE numbers SET name = 'x' WHERE n > ?", {std::int64_t{1}}), 2);
  EXPECT_EQ(database->run("DELETE FROM numbers WHERE n = 9"), 0);
}

TYPED_TEST(DatabaseContract, changes_all_or_nothing) {
  const auto database = this->open_with({1});
  const auto failed = database->change([&]() -> Result<void> {
    EXPECT_TRUE(this->put(*database, 2));
    return fail("on second thought");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "on second thought");
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1}));
  const auto changed = database->change([&]() -> Result<void> {
    for (const std::int64_t n : {2, 3}) {
      if (auto ok = this->put(*database, n); !ok) return std::unexpected(ok.error());
    }
    return {};
  });
  EXPECT_TRUE(changed);
  EXPECT_EQ(this->numbers(*this->open()), (std::vector<std::int64_t>{1, 2, 3}));
}

TYPED_TEST(DatabaseContract, takes_a_change_back_that_a_statement_of_it_broke) {
  const auto database = this->open_with({1});
  const auto changed = database->change([&]() -> Result<void> {
    EXPECT_TRUE(this->put(*database, 2));
    const auto twice = this->put(*database, 1);
    return twice ? Result<void>() : std::unexpected(twice.error());
  });
  ASSERT_FALSE(changed);
  EXPECT_EQ(database->trouble(), DatabaseTrouble::other) << changed.error().text;
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(this->put(*database, 2)) << "and it goes on";
}

TYPED_TEST(DatabaseContract, takes_a_change_back_that_an_exception_left) {
  {
    const auto database = this->open_with({1});
    EXPECT_THROW(std::ignore = database->change([&]() -> Result<void> {
      EXPECT_TRUE(this->put(*database, 2));
      throw std::runtime_error("killed");
    }),
                 std::runtime_error);
  }
  EXPECT_EQ(this->numbers(*this->open()), (std::vector<std::int64_t>{1}));
}

TYPED_TEST(DatabaseContract, says_what_is_wrong_with_a_statement_in_one_line) {
  const auto database = this->open_with({1});
  for (const char* const wrong :
       {"SELEC 1", "SELECT * FROM nowhere", "INSERT INTO numbers(n) VALUES(1)",
        "INSERT INTO numbers(n) VALUES('text')"}) {
    const auto ran = database->run(wrong);
    ASSERT_FALSE(ran) << wrong;
    EXPECT_TRUE(ran.error().text.starts_with("cannot use " + database->path() + ": "))
        << ran.error().text;
    EXPECT_EQ(ran.error().text.find('\n'), std::string::npos);
    EXPECT_EQ(database->trouble(), DatabaseTrouble::other);
  }
  EXPECT_FALSE(database->run_script("CREATE TABLE numbers(n)"));
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(database->trouble(), DatabaseTrouble::none) << "the last call went well";
}

TYPED_TEST(DatabaseContract, answers_other_questions_while_it_gives_rows) {
  const auto database = this->open_with({1, 2, 3});
  std::int64_t sum = 0;
  ASSERT_TRUE(database->each("SELECT n FROM numbers", {}, [&](const DatabaseRow& outer) {
    std::ignore = database->each("SELECT n FROM numbers WHERE n <= ?", {outer.number(0)},
                                 [&](const DatabaseRow& inner) { sum += inner.number(0); });
  }));
  EXPECT_EQ(sum, 1 + (1 + 2) + (1 + 2 + 3));
}

TYPED_TEST(DatabaseContract, is_not_asked_within_itself) {
  const auto database = this->open_with({1});
  const auto change_twice = [&] {
    std::ignore = database->change(
        [&]() -> Result<void> { return database->change([]() -> Result<void> { return {}; }); });
  };
  EXPECT_DEATH(change_twice(), "changing_");
  const auto ask_the_same = [&] {
    std::ignore = database->each("SELECT n FROM numbers", {}, [&](const DatabaseRow&) {
      std::ignore = database->run("SELECT n FROM numbers");
    });
  };
  EXPECT_DEATH(ask_the_same(), "busy");
  EXPECT_DEATH(std::ignore = database->run("SELECT ?"), "parameter_count") << "a value is missing";
}

TYPED_TEST(DatabaseContract, takes_any_number_of_different_statements) {
  const auto database = this->open_with({1});
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(database->run("SELECT " + std::to_string(i) + " FROM numbers"));
  }
  std::int64_t rows = 0;
  ASSERT_TRUE(database->each("SELECT n FROM numbers", {}, [&](const DatabaseRow&) {
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(database->run("SELECT " + std::to_string(i) + " FROM numbers"));
    }
    ++rows;
  }));
  EXPECT_EQ(rows, 1);
}

TYPED_TEST(DatabaseContract, promises_as_much_as_it_is_told_to) {
  const auto database = this->open_with({});
  EXPECT_TRUE(database->set_durable(false)) << "so it was before";
  EXPECT_TRUE(this->put(*database, 1));
  EXPECT_FALSE(database->set_durable(true));
  EXPECT_TRUE(database->set_durable(true));
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1}));
}

TYPED_TEST(DatabaseContract, loses_nothing_to_a_full_disk) {
  const auto database = this->open_with({1});
  this->which_.fill();
  const auto put = this->put(*database, 2);
  const DatabaseTrouble why = database->trouble();
  const auto changed = database->change([&]() -> Result<void> { return {}; });
  const auto copied = this->which_.databases().copy(*database, this->which_.path("copy.db"));
  this->which_.make_room();
  ASSERT_FALSE(put);
  EXPECT_EQ(why, DatabaseTrouble::full);
  EXPECT_EQ(put.error().text,
            "cannot write " + database->path() + ": no space left on device; nothing was changed");
  EXPECT_FALSE(copied);
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(this->put(*database, 2)) << "there is room again";
  EXPECT_EQ(this->numbers(*this->open()), (std::vector<std::int64_t>{1, 2}));
}

TYPED_TEST(DatabaseContract, is_busy_for_a_second_one_who_writes) {
  const auto database = this->open_with({1});
  const auto other =
      this->which_.databases().open(database->path(), {.may_wait = Duration{}}).value();
  const auto changed = database->change([&]() -> Result<void> {
    const auto refused = other->change([]() -> Result<void> { return {}; });
    EXPECT_FALSE(refused);
    EXPECT_EQ(other->trouble(), DatabaseTrouble::busy);
    EXPECT_EQ(refused.error().text, database->path() + " is busy: others write to it; try again");
    EXPECT_FALSE(this->put(*other, 2));
    EXPECT_EQ(other->trouble(), DatabaseTrouble::busy);
    EXPECT_TRUE(this->put(*database, 3));
    return {};
  });
  EXPECT_TRUE(changed);
  EXPECT_TRUE(this->put(*other, 2));
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1, 2, 3}));
}

TYPED_TEST(DatabaseContract, cannot_be_opened_by_who_may_not_read_it) {
  const auto database = this->open_with({1});
  if (!this->which_.make_unreadable("one.db")) GTEST_SKIP() << "root may read everything";
  const auto refused = this->which_.databases().open(database->path(), {});
  EXPECT_TRUE(this->put(*database, 2)) << "who has it open goes on";
  this->which_.make_readable("one.db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "cannot write " + database->path() + ": Permission denied; check who may write there");
  EXPECT_EQ(this->numbers(*this->open()), (std::vector<std::int64_t>{1, 2}));
}

TYPED_TEST(DatabaseContract, is_copied_as_it_is_now) {
  const auto database = this->open_with({1, 2});
  const std::string path = this->which_.path("copy.db");
  ASSERT_TRUE(this->which_.databases().copy(*database, path));
  ASSERT_TRUE(this->put(*database, 3));
  EXPECT_EQ(this->numbers(*this->open("copy.db")), (std::vector<std::int64_t>{1, 2}));
  ASSERT_TRUE(this->which_.databases().copy(*database, path)) << "in the place of the first";
  EXPECT_EQ(this->numbers(*this->open("copy.db")), (std::vector<std::int64_t>{1, 2, 3}));
  ASSERT_TRUE(this->put(*this->open("copy.db"), 4));
  EXPECT_EQ(this->numbers(*database), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(SimDatabases, take_back_what_a_killed_process_was_about_to_change) {
  for (std::uint64_t n = 1; n <= 4; ++n) {  // BEGIN, two statements, COMMIT
    SimUniverse universe;
    const std::string path = "/home/user/one.db";
    const auto numbers = [&](Database& database) {
      std::int64_t count = -1;
      EXPECT_TRUE(database.each("SELECT count(*) FROM numbers", {},
                                [&](const DatabaseRow& row) { count = row.number(0); }));
      return count;
    };
    Machine& survivor = universe.machine("survivor");
    auto database = survivor.databases.open(path, {}).value();
    ASSERT_TRUE(database->run_script("CREATE TABLE numbers(n)"));
    Machine& killed = universe.machine("killed");
    {
      const auto its = killed.databases.open(path, {}).value();
      universe.kill_at_call(killed.processes.self().pid, n);
      EXPECT_THROW(std::ignore = its->change([&]() -> Result<void> {
        for (int i = 0; i < 2; ++i) {
          if (auto ok = its->run("INSERT INTO numbers VALUES(1)"); !ok) {
            return std::unexpected(ok.error());
          }
        }
        return {};
      }),
                   SimKilled)
          << n;
    }
    EXPECT_EQ(numbers(*database), 0) << "killed at call " << n;
    EXPECT_TRUE(database->run("INSERT INTO numbers VALUES(2)"));
    EXPECT_EQ(numbers(*database), 1);
  }
}

}  // namespace
}  // namespace tend
