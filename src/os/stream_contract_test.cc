// Conversations between processes, asserted on both machines.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/machine_contract_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

template <class Which>
class StreamContract : public Contract<Which> {
 protected:
  /// Takes whoever comes.
  Result<Subscribed> listen() {
    return this->machine_.sockets.listen(this->path("door"),
                                         [this](std::unique_ptr<Connection> connection) {
                                           EXPECT_TRUE(connection->same_user());
                                           taken_.push_back(std::move(connection));
                                         });
  }
  /// A client and, as the last one taken, its other end.
  std::unique_ptr<Connection> come() {
    const std::size_t before = taken_.size();
    auto connection = this->machine_.sockets.connect(this->path("door"));
    if (!connection) throw std::runtime_error(connection.error().text);
    EXPECT_TRUE(this->run_until([&] { return taken_.size() > before; }));
    return std::move(*connection);
  }
  /// All that comes up to that many bytes; less if no more will.
  std::string read(Connection& from, std::size_t most) {
    std::string text;
    bool over = false;
    while (!over && text.size() < most) {
      bool got = false;
      const Subscribed reading = from.read([&](std::string_view piece) {
        text += piece;
        got = true;
        over = piece.empty();
      });
      EXPECT_FALSE(got) << "it comes through the loop";
      if (!this->run_until([&] { return got; })) return text + " (and no end)";
    }
    return text;
  }
  bool write(Connection& to, std::string bytes) {
    std::optional<bool> written;
    const Subscribed writing = to.write(std::move(bytes), [&](bool all) { written = all; });
    EXPECT_FALSE(written) << "it comes through the loop";
    EXPECT_TRUE(this->run_until([&] { return written.has_value(); }));
    return written.value_or(false);
  }

  std::vector<std::unique_ptr<Connection>> taken_;
};
TYPED_TEST_SUITE(StreamContract, Machines, MachineNames);

TYPED_TEST(StreamContract, carries_bytes_both_ways_in_their_order) {
  const auto door = this->listen();
  ASSERT_TRUE(door) << door.error().text;
  const auto client = this->come();
  EXPECT_TRUE(client->same_user());
  EXPECT_TRUE(this->write(*client, "one\n"));
  EXPECT_TRUE(this->write(*client, "two\n"));
  EXPECT_EQ(this->read(*this->taken_[0], 8), "one\ntwo\n");
  EXPECT_TRUE(this->write(*this->taken_[0], std::string("\0three", 6)));
  EXPECT_EQ(this->read(*client, 6), std::string("\0three", 6));
}

TYPED_TEST(StreamContract, keeps_clients_apart) {
  const auto door = this->listen();
  const auto one = this->come();
  const auto other = this->come();
  EXPECT_TRUE(this->write(*other, "other"));
  EXPECT_TRUE(this->write(*one, "one"));
  EXPECT_EQ(this->read(*this->taken_[0], 3), "one");
  EXPECT_EQ(this->read(*this->taken_[1], 5), "other");
}

TYPED_TEST(StreamContract, waits_until_all_is_taken) {
  const auto door = this->listen();
  const auto client = this->come();
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += std::to_string(i);
  std::optional<bool> written;
  const Subscribed writing = client->write(large, [&](bool all) { written = all; });
  EXPECT_FALSE(this->run_until([&, looks = 0]() mutable { return written || ++looks > 20; }) &&
               written.has_value())
      << "nobody has read it";
  EXPECT_EQ(this->read(*this->taken_[0], large.size()), large);
  EXPECT_TRUE(this->run_until([&] { return written == true; }));
}

TYPED_TEST(StreamContract, ends_for_both_when_one_goes) {
  const auto door = this->listen();
  auto client = this->come();
  EXPECT_TRUE(this->write(*client, "last words"));
  client.reset();
  EXPECT_EQ(this->read(*this->taken_[0], 100), "last words");
  EXPECT_EQ(this->read(*this->taken_[0], 100), "");
  EXPECT_FALSE(this->write(*this->taken_[0], "is there somebody?"));
  client = this->come();
  this->taken_.clear();
  EXPECT_EQ(this->read(*client, 100), "");
}

TYPED_TEST(StreamContract, may_end_in_its_own_callback) {
  const auto door = this->listen();
  auto client = this->come();
  EXPECT_TRUE(this->write(*client, "x"));
  Subscribed reading = this->taken_[0]->read([&](std::string_view) {
    reading.reset();
    this->taken_.clear();
  });
  EXPECT_TRUE(this->run_until([&] { return this->taken_.empty(); }));
  EXPECT_EQ(this->read(*client, 1), "");
}

TYPED_TEST(StreamContract, has_one_listener_at_a_time_and_replaces_one_that_is_gone) {
  {
    const auto door = this->listen();
    ASSERT_TRUE(door);
    const auto second = this->listen();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().text, "somebody listens at " + this->path("door") + " already");
    EXPECT_NE(this->come(), nullptr) << "the first is not disturbed";
  }
  const auto nobody = this->machine_.sockets.connect(this->path("door"));
  ASSERT_FALSE(nobody);
  EXPECT_TRUE(nobody.error().text.starts_with("cannot connect to " + this->path("door")));
  const auto again = this->listen();
  ASSERT_TRUE(again);
  EXPECT_NE(this->come(), nullptr);
}

TYPED_TEST(StreamContract, replaces_nothing_but_a_socket) {
  ASSERT_TRUE(this->home_->replace("door", "precious", Folder::Sync::no));
  const auto refused = this->listen();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            this->path("door") + " is in the way: it is not a socket of ours");
  EXPECT_EQ(this->text("door"), "precious");
}

}  // namespace
}  // namespace tend
