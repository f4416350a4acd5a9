// Frames: what goes in comes out, and nothing that a hostile worker sends does more than be damage.
#include "channel/frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "channel/values.hpp"
#include "labrig/ops.hpp"

namespace labrig::channel {
namespace {

using Json = nlohmann::json;

TEST(FrameReader, GivesWholeFramesHoweverTheyArrive) {
  const std::string stream = encode(Kind::phase, {{"phase", "load"}}) + encode(Kind::outputs, {{"values", 1}}, "bytes");
  FrameReader reader(1 << 20);
  std::vector<Frame> frames;
  for (const char c : stream) {
    reader.feed({&c, 1});
    while (auto frame = reader.next()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, Kind::phase);
  EXPECT_EQ(frames[0].json.at("phase"), "load");
  EXPECT_EQ(frames[1].bytes, "bytes");
  EXPECT_TRUE(reader.damage().empty());
}

std::string header(std::uint32_t magic, std::uint32_t kind, std::uint64_t json, std::uint64_t bytes) {
  std::string text(24, '\0');
  std::memcpy(text.data(), &magic, 4);
  std::memcpy(text.data() + 4, &kind, 4);
  std::memcpy(text.data() + 8, &json, 8);
  std::memcpy(text.data() + 16, &bytes, 8);
  return text;
}
constexpr std::uint32_t kMagic = 0x4c52'4348;

std::string damage_of(const std::string& bytes) {
  FrameReader reader(4096);
  reader.feed(bytes);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
  return reader.damage();
}

TEST(FrameReader, CallsDamageByItsName) {
  EXPECT_EQ(damage_of("a report that a submission printed into the channel"), "a frame does not begin as frames do");
  EXPECT_EQ(damage_of(header(kMagic, 2, 2, 1 << 20)), "a frame is larger than the limit");
  EXPECT_EQ(damage_of(header(kMagic, 2, ~0ull, ~0ull)), "a frame is larger than the limit");
  EXPECT_EQ(damage_of(header(kMagic, 2, 8, ~0ull - 8)), "a frame is larger than the limit");
  EXPECT_EQ(damage_of(header(kMagic, 2, 5, 0) + "{\"a\":"), "a frame holds no message");
  EXPECT_EQ(damage_of(header(kMagic, 2, 2, 0) + "[]"), "a frame holds no message");
  EXPECT_EQ(damage_of(header(kMagic, 99, 2, 0) + "{}"), "a frame holds no message");
  EXPECT_EQ(damage_of(header(kMagic, 2, 3000, 0) + std::string(3000, '[')), "a frame holds no message");
}

TEST(FrameReader, RefusesTextThatNestsWithoutEnd) {
  const std::string opened(100'000, '['), closed(100'000, ']');
  const std::string text = "{\"values\": " + opened + closed + "}";
  FrameReader reader(1 << 20);
  reader.feed(header(kMagic, 4, text.size(), 0) + text);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_EQ(reader.damage(), "a frame holds no message");
}

TEST(FrameReader, DoesNotTakeBracketsInATextForNesting) {
  FrameReader reader(1 << 20);
  reader.feed(encode(Kind::failed, {{"text", std::string(1000, '[') + "\\\"{{{{{{{{{{"}}));
  ASSERT_TRUE(reader.next().has_value()) << reader.damage();
}

TEST(Values, ComeBackAsTheyWere) {
  lab::Values values;
  values.set("x", tensor<float>({{1.5f, -2.0f, 3.0f, 4.0f}}).view({2, 2}).t());
  values.set("none", empty({0, 3}, kF64));
  values.set("mask", tensor<std::uint8_t>({{0, 1}}).to(kBool));
  values.set("count", std::int64_t{-7});
  values.set("rate", 0.1);
  values.set("nan", std::nan(""));
  values.set("kind", std::string("score"));
  const EncodedValues encoded = encode_values(values);
  const lab::Values back = decode_values(Json::parse(encoded.json.dump()), encoded.bytes).value();
  EXPECT_EQ(back.tensor("x").sizes(), Dims({2, 2}));
  EXPECT_EQ(back.tensor("x").data<float>()[1], 3.0f);
  EXPECT_EQ(back.tensor("none").sizes(), Dims({0, 3}));
  EXPECT_EQ(back.tensor("none").dtype(), kF64);
  EXPECT_TRUE(back.tensor("mask").data<bool>()[1]);
  EXPECT_EQ(back.integer("count"), -7);
  EXPECT_EQ(back.real("rate"), 0.1);
  EXPECT_TRUE(std::isnan(back.real("nan")));
  EXPECT_EQ(back.text("kind"), "score");
}

std::string why(const Json& json, const std::string& bytes = std::string(16, '\1')) {
  const Result<lab::Values> values = decode_values(json, bytes);
  return values ? "" : values.error().why();
}
Json tensor_json(const Json& sizes, const Json& offset = 0u, const std::string& dtype = "f32") {
  return {{{"name", "x"}, {"dtype", dtype}, {"sizes", sizes}, {"offset", offset}}};
}

TEST(Values, ThatDoNotFitAreDamaged) {
  EXPECT_EQ(why(tensor_json({4u})), "");
  EXPECT_EQ(why(tensor_json({5u})), "a tensor has more elements than bytes");
  EXPECT_EQ(why(tensor_json({4u}, 1u)), "a tensor has more elements than bytes");
  EXPECT_EQ(why(tensor_json({0u}, 17u)), "a tensor has more elements than bytes");
  const std::uint64_t large = std::uint64_t{1} << 40;
  EXPECT_EQ(why(tensor_json({large, large, large, large, large, large})), "a tensor has more elements than bytes");
  EXPECT_EQ(why(tensor_json({large, large, large, large, 0u})), "");
  EXPECT_EQ(why(tensor_json({large + 1})), "a size is none");
  EXPECT_EQ(why(tensor_json({-1})), "a size is none");
  EXPECT_EQ(why(tensor_json({1.5})), "a size is none");
  EXPECT_EQ(why(tensor_json({1u, 1u, 1u, 1u, 1u, 1u, 1u})), "a tensor has too many dimensions");
  EXPECT_EQ(why(tensor_json({4u}, 0u, "f33")), "'f33' is no element type");
  EXPECT_EQ(why(tensor_json("4")), "'sizes' is missing or of another type");
  EXPECT_EQ(why(Json::object()), "the description is no list, or too long");
  EXPECT_EQ(why({1}), "a value is no object");
  EXPECT_EQ(why({{{"name", ""}, {"integer", 1}}}), "a name is empty, long or given twice");
  EXPECT_EQ(why({{{"name", "a"}, {"integer", 1}}, {{"name", "a"}, {"integer", 1}}}),
            "a name is empty, long or given twice");
  EXPECT_EQ(why({{{"name", "a"}, {"integer", 1.5}}}), "'integer' is missing or of another type");
  EXPECT_EQ(why({{{"name", "a"}}}), "'text' is missing or of another type");
}

TEST(Values, DoNotShareBytes) {
  Json twice = tensor_json({4u});
  twice.push_back({{"name", "y"}, {"dtype", "f32"}, {"sizes", {4u}}, {"offset", 0u}});
  EXPECT_EQ(why(twice), "tensors share their bytes");
  EXPECT_EQ(why(twice, std::string(32, '\1')), "") << "enough bytes for both";
}

TEST(Values, OfTypeBoolHoldNothingButZeroAndOne) {
  const lab::Values values = decode_values(tensor_json({2u}, 0u, "bool"), std::string("\x05\x00", 2)).value();
  const auto* bytes = static_cast<const unsigned char*>(values.tensor("x").data_ptr());
  EXPECT_EQ(bytes[0], 1);
}

}  // namespace
}  // namespace labrig::channel
