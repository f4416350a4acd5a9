// The driver's end of the ring against a real card in a thread: wrapping, waiting, several threads, refusals.
#include "driver/client.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "host/card_thread.hpp"
#include "test_card.hpp"

namespace labrig::sim {
namespace {

class ClientTest : public testing::Test {
 protected:
  static MachineOptions options() {
    MachineOptions made = options_with(round_profile());
    made.limits.commands = 1'000'000;
    return made;
  }
  std::uint64_t block(std::size_t bytes, std::string_view name = {}) {
    const std::uint64_t address = client_.call(Opcode::driver_malloc, {}, {bytes}).value[1];
    client_.note_alloc({0, 0, name}, address, bytes, bytes);
    return address;
  }
  // As an operand that the client sends: a pointer of this process.
  KernelCall add(std::uint64_t at, std::int64_t n) {
    KernelCall call = add_call(at, n);
    for (Operand& operand : call.operands) {
      operand.data = client_.pointer_at(reinterpret_cast<std::uint64_t>(operand.data));
    }
    return call;
  }

  std::shared_ptr<CardThread> card_ = std::make_shared<CardThread>(options());
  Client client_{card_->take_handles(), card_};
};

TEST_F(ClientTest, TheRingWrapsManyTimesAndLosesNothing) {
  const std::uint64_t memory = block(4096);
  constexpr int kLaunches = 20'000;  // of eight granules: ten times around
  for (int i = 0; i < kLaunches; ++i) client_.launch({}, add(memory, 10));
  client_.call(Opcode::sync_device, {}, {0});
  EXPECT_EQ(card_->report().metrics.launches, static_cast<std::uint64_t>(kLaunches));
  EXPECT_EQ(card_->report().violation_text, "");
}

TEST_F(ClientTest, BytesComeBackAsTheyWent) {
  const std::uint64_t memory = block(10 * kMiB);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, kInlineBytes, kInlineBytes + 1, kChunkBytes,
                                  kChunkBytes + 1, std::size_t{9} << 20}) {
    std::vector<std::uint8_t> sent(bytes), got(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::uint8_t>(i * 31 + bytes);
    client_.upload({}, memory, sent.data(), bytes, 0);
    client_.download({}, got.data(), memory, bytes, 0);
    EXPECT_EQ(sent, got) << bytes;
  }
}

TEST_F(ClientTest, ManySmallUploadsInARowKeepTheirValues) {
  const std::uint64_t memory = block(4 * 1000);
  for (std::uint32_t i = 0; i < 1000; ++i) client_.upload({}, memory + 4 * i, &i, sizeof i, 0);
  std::vector<std::uint32_t> got(1000), expected(1000);
  std::iota(expected.begin(), expected.end(), 0u);
  client_.download({}, got.data(), memory, 4000, 0);
  EXPECT_EQ(got, expected);
}

TEST_F(ClientTest, SeveralThreadsMayCallAtOnce) {
  const std::uint64_t memory = block(64 * 1024);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, memory, t] {
      for (std::uint32_t i = 0; i < 200; ++i) {
        std::uint32_t sent = i * 4 + static_cast<std::uint32_t>(t), got = 0;
        client_.upload({}, memory + 4 * t, &sent, 4, 0);
        client_.launch({}, add(memory + 1024, 10));
        client_.download({}, &got, memory + 4 * t, 4, 0);
        EXPECT_EQ(got, sent);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(card_->report().metrics.h2d_copies, 800u);
  EXPECT_EQ(card_->report().violation_text, "");
}

TEST_F(ClientTest, ARefusalIsThrownWithTheCardsWords) {
  const std::uint64_t memory = block(512, "weights");
  client_.note_free({}, memory);
  client_.launch({}, add(memory, 10));
  try {
    client_.call(Opcode::sync_device, {}, {0});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "use-after-free");
    EXPECT_STREQ(error.what(), "kernel 'add' writes 40 bytes at sim:0+0x0, in tensor 'weights', which is freed");
    EXPECT_NE(error.why(), "");
    EXPECT_NE(error.fix(), "");
  }
}

TEST_F(ClientTest, AStoppedCardIsAnErrorAndNotAHang) {
  client_.call(Opcode::begin, {}, {});
  for (int i = 0; i < 2; ++i) {
    try {
      client_.call(Opcode::begin, {}, {});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "card-stopped");
    }
  }
  EXPECT_EQ(card_->report().violation_code, "protocol-error");
}

TEST_F(ClientTest, PointersOutsideTheRangeAreBadAddresses) {
  int local = 0;
  KernelCall call = add(block(512), 10);
  call.operands[1].data = &local;
  client_.launch({}, call);
  EXPECT_THROW(client_.call(Opcode::sync_device, {}, {0}), Error);
  EXPECT_EQ(card_->report().violation_code, "bad-address");
}

TEST_F(ClientTest, NamesAreSentOnceAndCutAtTheirLimit) {
  const std::string name(300, 'n');
  std::uint64_t memory = 0;
  for (int i = 0; i < 3; ++i) memory = block(512, name);
  client_.note_free({}, memory);
  client_.launch({}, add(memory, 10));
  client_.call(Opcode::finish, {}, {});
  EXPECT_NE(card_->report().violation_text.find("'" + std::string(95, 'n') + "'"), std::string::npos);
}

TEST(CardThread, RefusesOptionsThatMakeNoMachine) {
  const auto code = [](const MachineOptions& options) {
    try {
      const CardThread card(options);
      return std::string("no error");
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code(MachineOptions{}), "bad-machine");
  MachineOptions odd = options_with(round_profile());
  odd.limits.pinned_bytes = 1000;
  EXPECT_EQ(code(odd), "bad-machine");
}

}  // namespace
}  // namespace labrig::sim
