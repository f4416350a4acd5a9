// The recorded runs of PyTorch's allocator, and damaged copies of them: what is said, and that nothing damaged passes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "conform/alloc_traces.hpp"

namespace labrig::conform {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ConformAllocTraces : public testing::Test {
 protected:
  ConformAllocTraces() {
    std::string pattern = (fs::temp_directory_path() / "labrig-conform-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ConformAllocTraces() override { fs::remove_all(folder_); }

  static fs::path golden() { return fs::path(LABRIG_TEST_GOLDEN) / "alloc_traces.json.gz"; }
  static json recorded() { return JsonFile::read(golden()).value().json(); }
  // Two short traces of the recording, so that a test is quick.
  static json some() {
    json all = recorded();
    json traces = {all["traces"][3], all["traces"][13]};
    all["traces"] = std::move(traces);
    return all;
  }
  fs::path file(const std::string& text, const char* name = "traces.json") const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static Result<Outcome> conform(const fs::path& path) {
    try {
      return alloc_traces(JsonFile::read(path).value(), Device());
    } catch (const Error& error) {
      return error;
    }
  }
  Outcome conform(const json& document) const { return conform(file(document.dump())).value(); }
  Error refused(const std::string& text) const {
    const Result<Outcome> result = conform(file(text));
    if (!result) return result.error();
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return Error("none", "", "", "");
  }

  fs::path folder_;
};

TEST_F(ConformAllocTraces, ReproducesAllThirtyRunsAddressForAddressAndFigureForFigure) {
  const Outcome result = conform(golden()).value();
  EXPECT_TRUE(result.ok()) << to_text(result);
  EXPECT_EQ(result.total, 30u);
  EXPECT_EQ(result.figures["without_log"], 0u);
  EXPECT_EQ(result.figures["operations"], 6564u);
  EXPECT_EQ(result.figures["figures"], 14u * 6564);
  EXPECT_EQ(result.figures["addresses"], 2u * 3192);  // of each block when it is handed out and when it comes back
  EXPECT_TRUE(result.ignored.empty());
}

TEST_F(ConformAllocTraces, NamesTheStatisticThatDiffers) {
  json traces = some();
  traces["traces"][1]["stats"][20][2] = 12345;
  const Outcome result = conform(traces);
  EXPECT_EQ(result.passed, 1u);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.differences[0].place["trace"], "trace 1 (kind large, seed 13, streams 1)");
  EXPECT_EQ(result.differences[0].place["operation"], 20u);
  EXPECT_EQ(result.differences[0].place["operation_text"], traces["traces"][1]["ops"][20].dump());
  EXPECT_EQ(result.differences[0].key, "reserved_bytes.all.current");
  EXPECT_EQ(result.differences[0].expected, "12345");
  EXPECT_EQ(result.differences[0].got, some()["traces"][1]["stats"][20][2].dump());
}

TEST_F(ConformAllocTraces, NamesTheBlockAddressThatDiffers) {
  json traces = some();
  std::uint64_t right = 0;
  for (json& event : traces["traces"][0]["log"]) {
    if (event[0] != "alloc") continue;
    right = event[1].get<std::uint64_t>();
    event[1] = right + 512;
    break;
  }
  const Outcome result = conform(traces);
  EXPECT_EQ(result.passed, 1u);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.differences[0].key, "address");
  EXPECT_EQ(result.differences[0].expected, std::to_string(right + 512));
  EXPECT_EQ(result.differences[0].got, std::to_string(right));
}

TEST_F(ConformAllocTraces, SeesASegmentThatTheRecordingLacksOrHasTooMany) {
  const auto with_segments = [&](const std::function<void(json&, std::size_t)>& change) {
    json traces = some();
    json& log = traces["traces"][0]["log"];
    std::size_t at = 0;
    while (log[at][0] != "segment_alloc") ++at;
    change(log, at);
    return conform(traces);
  };
  const auto lacking = with_segments([](json& log, std::size_t at) { log.erase(at); });
  ASSERT_FALSE(lacking.ok());
  EXPECT_EQ(lacking.differences[0].key, "outcome");
  const auto too_many =
      with_segments([](json& log, std::size_t) { log.push_back({"segment_alloc", 4096, 2097152, 0}); });
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.differences[0].key, "driver");
  const auto larger = with_segments([](json& log, std::size_t at) { log[at][2] = 4194304; });
  ASSERT_FALSE(larger.ok());
  EXPECT_EQ(larger.differences[0].key, "driver");
}

TEST_F(ConformAllocTraces, SeesARequestThatFailedThereAndNotHere) {
  json traces = some();
  for (json& op : traces["traces"][0]["ops"]) {
    if (op[0] != "alloc") continue;
    op[0] = "oom";
    // Nothing may use the block that is not there.
    json& ops = traces["traces"][0]["ops"];
    const json id = op[1];
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i] == json({"free", id})) {
        ops.erase(i);
        traces["traces"][0]["stats"].erase(i);
        break;
      }
    }
    break;
  }
  const Outcome result = conform(traces);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.differences[0].key, "outcome");
  EXPECT_EQ(result.differences[0].expected, "out of memory");
}

TEST_F(ConformAllocTraces, ComparesWhatThereIsWhenThereIsNoLogOrMoreThanItKnows) {
  json traces = some();
  traces["recorded_on"] = "a day";
  traces["keys"].push_back("num_dreams");
  for (json& trace : traces["traces"]) {
    trace.erase("log");
    trace.erase("base");
    for (json& stats : trace["stats"]) stats.push_back(1);
  }
  const Outcome result = conform(traces);
  EXPECT_EQ(result.passed, 2u);
  EXPECT_EQ(result.figures["without_log"], 2u);
  EXPECT_EQ(result.figures["addresses"], 0u);
  EXPECT_EQ(result.ignored, (std::set<std::string>{"num_dreams", "recorded_on"}));
}

TEST_F(ConformAllocTraces, UsesTheSettingsAndTheLimitOfATrace) {
  // 64 MiB cached, then 16, then 64 with room for 96: only with a split limit is there room.
  const auto trace = [](const json& settings, const char* last) {
    json result = {{"ops", {{"alloc", 0, 67108864, 0}, {"free", 0}, {"alloc", 1, 16777216, 0}, {last, 2, 67108864, 0}}},
                   {"stats", {{67108864}, {67108864}, {settings.is_null() ? 67108864 : 83886080}, {}}},
                   {"cap_bytes", 100663296},
                   {"settings", settings}};
    result["stats"][3] = {settings.is_null() ? 67108864 : 83886080};
    return result;
  };
  json document = {{"keys", {"reserved_bytes.all.current"}},
                   {"traces",
                    {trace(nullptr, "oom"),
                     trace("max_split_size_mb:32", "alloc"),
                     {{"ops", json::array()}, {"stats", json::array()}}}}};
  const Outcome result = conform(document);
  EXPECT_EQ(result.passed, 3u) << to_text(result);
}

TEST_F(ConformAllocTraces, KnowsThatATensorWithoutElementsHasNoBlock) {
  const json document = {{"keys", {"allocation.all.current"}},
                         {"traces",
                          {{{"ops", {{"alloc", 0, 0, 0}, {"record_stream", 0, 1}, {"free", 0}}},
                            {"stats", {{0}, {0}, {0}}},
                            {"log", json::array()}}}}};
  EXPECT_EQ(conform(document).passed, 1u);
}

TEST_F(ConformAllocTraces, SaysWhereAFileIsNotJson) {
  const Error error = refused("{\"keys\": [],\n \"traces\": [}");
  EXPECT_EQ(error.code(), "bad-file");
  EXPECT_NE(error.why().find("traces.json:2:13: this is not JSON"), std::string::npos) << error.why();
}

TEST_F(ConformAllocTraces, RefusesToCompareNothing) {
  const std::string rest = "\"traces\": [{\"ops\": [[\"empty_cache\"]], \"stats\": [[0]]}]}";
  EXPECT_NE(refused("{\"keys\": [\"num_dreams\"], " + rest).why().find("no statistic that is known"),
            std::string::npos);
  EXPECT_TRUE(conform(file("{\"keys\": [\"num_ooms\"], " + rest)));
}

TEST_F(ConformAllocTraces, RefusesADocumentThatIsNestedWithoutEnd) {
  const std::size_t deep = 500'000;
  const Error error = refused("{\"traces\": [{\"ops\": [], \"stats\": [], \"name\": " + std::string(deep, '[') +
                              std::string(deep, ']') + "}]}");
  EXPECT_EQ(error.why(), "it is nested more than 64 deep");
}

TEST_F(ConformAllocTraces, SaysThatAPackedFileIsCutShort) {
  std::ifstream whole(golden(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  const auto result = conform(file(bytes.substr(0, bytes.size() / 2), "cut.json.gz"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), "bad-file");
  EXPECT_NE(result.error().why().find("the gzip data is cut short"), std::string::npos) << result.error().why();
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 0x40;
  EXPECT_FALSE(conform(file(damaged, "damaged.json.gz")));
  EXPECT_FALSE(conform(folder_ / "missing.json"));
}

TEST_F(ConformAllocTraces, SaysWhereAValueIsOfAnotherKind) {
  const auto with_op = [](const std::string& op) {
    return "{\"keys\": [\"num_ooms\"], \"traces\": [{\n  \"ops\": [[\"empty_cache\"], " + op +
           "],\n  \"stats\": [[0], [0]]}]}";
  };
  const std::pair<std::string, std::string> rows[] = {
      {"[]", "1:1: the document has no list \"traces\""},
      {"{\"traces\": []}", "1:12: /traces is empty"},
      {"{\"traces\": [7]}", "1:13: /traces/0 is not an object"},
      {"{\"traces\": [{\"ops\": []}]}", "/traces/0 has no \"stats\""},
      {with_op("[\"alloc\", 1, \"many\", 0]"), "2:41: /traces/0/ops/1/2 is not a whole number"},
      {with_op("[\"alloc\", 1, -5, 0]"), "/traces/0/ops/1/2 is negative or too large"},
      {with_op("[\"alloc\", 1]"), "/traces/0/ops/1 is too short for alloc"},
      {with_op("[\"dance\"]"), "2:29: /traces/0/ops/1/0 is no operation"},
      {with_op("[\"free\", 9]"), "/traces/0/ops/1/1 is not allocated"},
      {with_op("7"), "/traces/0/ops/1 is not a list"},
      {"{\"keys\": [\"num_ooms\"], \"traces\": [{\"ops\": [[\"empty_cache\"]], \"stats\": [[0, 1]]}]}",
       "/traces/0/stats/0 has 2 entries, and there are 1 keys"},
      {"{\"traces\": [{\"ops\": [], \"stats\": [[]]}]}", "/traces/0/stats does not have one entry"},
      {"{\"traces\": [{\"ops\": [], \"stats\": [], \"settings\": \"colour:red\"}]}",
       "is not usable: Unrecognized CachingAllocator option: colour"},
  };
  for (const auto& [text, expected] : rows) {
    const Error error = refused(text);
    EXPECT_EQ(error.code(), "bad-file");
    EXPECT_NE(error.why().find(expected), std::string::npos) << error.why() << "\n instead of " << expected;
  }
}

}  // namespace
}  // namespace labrig::conform
