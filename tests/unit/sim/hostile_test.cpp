// A client that sends anything at all. Whatever comes, the card neither crashes nor hangs, and when it stops serving it
// says why. Seeds are fixed, so that a failure comes back.
#include <gtest/gtest.h>

#include <random>

#include "card/consumer.hpp"
#include "test_card.hpp"

namespace labrig::sim {
namespace {

// Values that are near the edges of what is checked.
class Edges {
 public:
  explicit Edges(std::uint32_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t number() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0} - below(3);
      case 2:
        return (std::uint64_t{1} << below(64)) - below(2);
      case 3:
        return below(200 * kMiB);
      case 4:
        return random_();
      default:
        return below(4096);
    }
  }

 private:
  std::mt19937_64 random_;
};

MachineOptions small_machine() {
  MachineOptions options = options_with(round_profile());
  options.limits.real_bytes = 8 * kMiB;
  options.limits.kernel_steps = 1 << 16;
  options.limits.trace_events = 64;
  return options;
}

bool is_known_code(const std::string& code) {
  for (const char* known : {"protocol-error", "over-limit", "bad-address", "use-after-free", "out-of-bounds",
                            "bad-handle", "bad-shape", "no-data", "after-finish"}) {
    if (code == known) return true;
  }
  return false;
}

// One command with a right structure and arbitrary contents, over blocks that mostly exist.
void send_one(TestCard& card, Edges& edges, std::vector<std::uint64_t>& blocks) {
  const auto address = [&] {
    return blocks.empty() || edges.below(4) == 0 ? edges.number()
                                                 : blocks[edges.below(blocks.size())] + 4 * edges.below(40);
  };
  About about{0, static_cast<std::uint16_t>(edges.below(4)), 0};
  if (edges.below(20) == 0)
    about = {static_cast<std::uint16_t>(edges.number()), static_cast<std::uint16_t>(edges.number()), 0};
  const auto opcode = static_cast<Opcode>(edges.below(kOpcodeCount));
  switch (opcode) {
    case Opcode::launch: {
      if (!blocks.empty() && edges.below(2) == 0) {
        card.launch(add_call(blocks[edges.below(blocks.size())], static_cast<std::int64_t>(edges.below(70))), about);
        return;
      }
      KernelCall call;
      call.kernel = static_cast<Kernel>(edges.below(kKernelCount));
      const std::uint64_t operands = edges.below(10) == 0 ? edges.below(8) : 2 + edges.below(2);
      const auto rank = edges.below(3);
      for (std::uint64_t i = 0; i < operands; ++i) {
        Operand operand;
        operand.data = reinterpret_cast<void*>(address());
        operand.dtype = edges.below(3) == 0 ? static_cast<Dtype>(edges.below(kDtypeCount)) : kF32;
        operand.access = i == 0 ? Access::write : Access::read;
        for (std::uint64_t d = 0; d < rank; ++d) {
          operand.sizes.push_back(
              static_cast<std::int64_t>(edges.below(16) == 0 ? edges.number() : 1 + edges.below(6)));
          operand.strides.push_back(
              static_cast<std::int64_t>(edges.below(16) == 0 ? edges.number() >> 8 : edges.below(8)));
        }
        call.push(operand);
      }
      for (auto& scalar : call.scalars) scalar = edges.below(2) == 0 ? edges.number() : edges.below(2);
      card.launch(call, about);
      return;
    }
    case Opcode::name:
      card.name("n");
      return;
    case Opcode::driver_malloc: {
      const std::uint64_t bytes = edges.below(3) == 0 ? edges.number() : 512 * (1 + edges.below(8));
      const auto answer = card.send(opcode, {bytes}, {0, 0, 0});
      if (!answer || answer->value[0] != 1) return;
      blocks.push_back(answer->value[1]);
      if (edges.below(4) != 0) card.send(Opcode::alloc_note, {blocks.back(), 512, 512}, {0, 0, 0});
      return;
    }
    case Opcode::driver_reserve: {
      const auto answer = card.send(opcode, {edges.below(4) == 0 ? edges.number() : 4 * kMiB}, {0, 0, 0});
      if (!answer || answer->value[0] != 1) return;
      if (card.send(Opcode::driver_map, {answer->value[1], 2 * kMiB}, {0, 0, 0})->value[0] != 1) return;
      blocks.push_back(answer->value[1]);
      if (edges.below(4) != 0) card.send(Opcode::alloc_note, {blocks.back(), 512, 512}, {0, 0, 0});
      return;
    }
    case Opcode::driver_map:
    case Opcode::driver_unmap:
      card.send(opcode,
                {address() / kDevicePageBytes * kDevicePageBytes, edges.below(4) == 0 ? edges.number() : 2 * kMiB},
                {0, 0, 0});
      return;
    case Opcode::pageable_begin:
      if (edges.below(10) != 0) {
        card.upload(address(), nullptr, 1 + edges.below(edges.below(8) == 0 ? 3 * kMiB : 300), edges.below(2) << 8,
                    about);
      }
      return;
    case Opcode::begin:
    case Opcode::finish:
    case Opcode::pageable_chunk:
      if (edges.below(500) == 0) card.send(opcode, {}, about);
      return;
    case Opcode::copy_to_pageable:
      card.download(nullptr, address(), 1 + edges.below(300), edges.below(5), about);
      return;
    case Opcode::alloc_note:
      card.send(opcode, {address(), 1 + edges.below(600), 512}, {0, 0, 0});
      return;
    case Opcode::copy_up:
      card.send(opcode, {address(), edges.number(), edges.number(), edges.below(5)}, about);
      return;
    case Opcode::copy_down:
      card.send(opcode, {edges.number(), address(), edges.number(), edges.below(5)}, about);
      return;
    case Opcode::copy_within:
      card.send(opcode, {address(), address(), edges.below(64), edges.below(5)}, about);
      return;
    case Opcode::sync_event:
      card.send(opcode, {edges.below(8), edges.below(5)}, about);
      return;
    case Opcode::elapsed:
      card.send(opcode, {edges.below(8), edges.below(8)}, about);
      return;
    case Opcode::host_work:
      card.send(opcode, {edges.number() >> 20, edges.number() >> 20}, about);
      return;
    case Opcode::job:
      card.send(opcode, {edges.below(70), edges.number(), edges.number(), edges.number()}, about);
      return;
    case Opcode::take_job:
    case Opcode::close_worker:
      card.send(opcode, {edges.below(70)}, about);
      return;
    case Opcode::host_access:
      card.send(opcode, {edges.number(), edges.number(), 1}, about);
      return;
    case Opcode::fetch_note:
      card.send(opcode, {edges.number(), edges.number()}, about);
      return;
    case Opcode::sync_stream:
    case Opcode::sync_device:
      card.send(opcode, {edges.below(5)}, about);
      return;
    case Opcode::stream_create:
      card.send(opcode, {edges.below(2)}, {0, static_cast<std::uint16_t>(edges.below(4)), 0});
      return;
    case Opcode::event_create:
    case Opcode::event_destroy:
    case Opcode::record:
    case Opcode::wait:
    case Opcode::query_event:
      card.send(opcode, {edges.below(8)}, about);
      return;
    case Opcode::free_note:
    case Opcode::driver_free:
    case Opcode::driver_release:
      card.send(opcode, {address()}, {0, 0, 0});
      return;
    case Opcode::pinned_malloc:
    case Opcode::pinned_free:
      card.send(opcode, {edges.below(3) * 4096}, {0, 0, 0});
      return;
    default:
      card.send(opcode, {}, about);
      return;
  }
}

TEST(Hostile, RightStructureWithArbitraryContentsIsRefusedWithAReason) {
  std::uint64_t launches = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    TestCard card(small_machine());
    Edges edges(seed);
    std::vector<std::uint64_t> blocks;
    for (int i = 0; i < 500 && !card.server().stopped(); ++i) send_one(card, edges, blocks);
    const Report report = card.server().report();
    EXPECT_TRUE(report.violation_code.empty() || is_known_code(report.violation_code)) << report.violation_code;
    EXPECT_EQ(report.violation_code.empty(), report.violation_text.empty());
    if (card.server().stopped()) {
      EXPECT_EQ(report.violation_code, "protocol-error") << "seed " << seed;
    }
    EXPECT_GE(report.metrics.time_ps, 0);
    launches += report.metrics.launches;
  }
  EXPECT_GT(launches, 400u) << "some of it must get through, or the test looks at nothing";
}

TEST(Hostile, RandomBytesEndTheServiceWithAReason) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 3000; ++round) {
    TestCard card(small_machine());
    for (int i = 0; i < 100 && !card.server().stopped(); ++i) {
      Record record{};
      for (std::size_t at = 0; at < sizeof record; at += 8) {
        const std::uint64_t word = random() & random() & random();
        std::memcpy(record.bytes + at, &word, sizeof word);
      }
      // Half of them get as far as a known command that is next in line.
      if (random() % 2 == 0) {
        CommandHeader header;
        std::memcpy(&header, record.bytes, sizeof header);
        header.opcode = static_cast<std::uint16_t>(random() % kOpcodeCount);
        header.sequence = static_cast<std::uint64_t>(i);
        header.reserved = 0;
        header.name = 0;
        std::memcpy(record.bytes, &header, sizeof header);
      }
      card.server().process(record, 1 + random() % kMaxRecordGranules);
    }
    EXPECT_TRUE(card.server().stopped());
    EXPECT_EQ(card.violation(), "protocol-error");
  }
}

TEST(Hostile, ADamagedRingEndsTheServiceWithAReason) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 300; ++round) {
    const RegionFiles files = RegionFiles::create(kPageBytes);
    const Regions regions(files.device_page.get(), files.worker_page.get(), files.arena.get(), kPageBytes, true);
    MachineOptions options = small_machine();
    options.limits.pinned_bytes = kPageBytes;
    Server server(options, regions);
    Consumer consumer(server, regions);
    for (std::size_t at = 0; at < 64 * kGranuleBytes; at += 8) {
      const std::uint64_t word = random() & random();
      std::memcpy(regions.ring() + at, &word, sizeof word);
    }
    const std::uint64_t tails[] = {random() % 64, kRingGranules + 1, ~std::uint64_t{0}, 1};
    regions.worker_page().tail.store(tails[round % 4]);
    consumer.client_is_gone();
    consumer.run([] {});
    const Report report = server.report();
    EXPECT_EQ(report.violation_code, tails[round % 4] == 0 ? "" : "protocol-error");
    EXPECT_EQ(regions.device_page().stopped.load(), 1u);
  }
}

}  // namespace
}  // namespace labrig::sim
