// Checkpoint files: what is written comes back, foreign and damaged files give an error that says what they are, and
// map_location decides where tensors go.
#include "labrig/io.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkpoint_files.hpp"
#include "expect_error.hpp"
#include "labrig/checkpoint.hpp"
#include "labrig/nn.hpp"
#include "labrig/scheduler.hpp"

namespace labrig {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::Files;

const fs::path kCases = LABRIG_TEST_CHECKPOINTS;

using Save = Files;
using Load = Files;
using Checkpoints = Files;

std::vector<double> values(const Tensor& tensor) {
  const Tensor host = tensor.cpu().to(kF64).contiguous();
  const auto data = host.data<const double>();
  return {data.begin(), data.end()};
}

Tensor counted(const Dims& sizes, Dtype dtype = kF32) { return arange(sizes.product()).to(dtype).view(sizes); }

TEST_F(Save, ComesBackWithEveryTypeAndShape) {
  NamedTensors saved;
  for (const Dtype dtype : {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool}) {
    saved.emplace_back(std::string("vector of ") + name_of(dtype), counted({3}, dtype));
  }
  saved.emplace_back("number", full({}, 7));
  saved.emplace_back("nothing", zeros({0, 3}));
  saved.emplace_back("six dimensions", counted({1, 2, 1, 2, 1, 2}));
  saved.emplace_back("transposed", counted({2, 3}).t());
  io::save(path("all"), saved, {{"epoch", "3"}});
  const io::Loaded loaded = io::load(path("all"));
  EXPECT_EQ(loaded.tensors.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    const Tensor read = find(loaded.tensors, name);
    ASSERT_TRUE(read.defined()) << name;
    EXPECT_EQ(read.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(read.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(values(read), values(tensor)) << name;
    EXPECT_EQ(read.name(), name);
  }
  EXPECT_EQ(loaded.metadata, (io::Metadata{{"epoch", "3"}, {"format", "pt"}}));
}

// The bytes that safetensors.torch.save_file writes for these tensors, apart from the metadata.
TEST_F(Save, WritesLargeTypesFirstThenByNameAndPadsTheHeader) {
  io::save(path("order"),
           {{"b", counted({1})}, {"c", counted({1}, kU8)}, {"a", counted({1})}, {"d", counted({1}, kI64)}});
  const std::string text = content(path("order"));
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(text.size(), 8 + length + 17);
  const std::string header = text.substr(8, length);
  EXPECT_EQ(
      header.substr(0, header.find_last_not_of(' ') + 1),
      R"({"__metadata__":{"device:a":"cpu","device:b":"cpu","device:c":"cpu","device:d":"cpu","format":"pt"},)"
      R"("d":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},"c":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}})");
}

TEST_F(Save, LeavesTheOldFileWhenItFails) {
  io::save(path("w"), {{"w", full({2}, 5)}});
  const std::string before = content(path("w"));
  EXPECT_EQ(error_of([&] { io::save(path("w"), {{"w", full({2}, 6)}, {"w", full({2}, 7)}}); }).code(),
            "bad-checkpoint");
  EXPECT_EQ(error_of([&] { io::save(path("w"), {{"bad \xff name", full({2}, 6)}}); }).code(), "bad-checkpoint");
  EXPECT_EQ(content(path("w")), before);
  EXPECT_EQ(error_of([&] { io::save(path("no folder/w"), {{"w", full({2}, 6)}}); }).code(), "bad-file");
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path("w")).parent_path()), fs::directory_iterator()), 1);
}

TEST_F(Load, ReadsFilesOfThePythonPackage) {
  const io::Loaded floats = io::load((kCases / "ok_f32_2x3.safetensors").string());
  ASSERT_EQ(floats.tensors.size(), 1U);
  EXPECT_EQ(floats.tensors[0].second.sizes(), (Dims{2, 3}));
  EXPECT_EQ(values(floats.tensors[0].second), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const io::Loaded halves = io::load((kCases / "ok_metadata.safetensors").string());
  EXPECT_EQ(values(find(halves.tensors, "x")), (std::vector<double>{1, -0.5, 65504}));
  EXPECT_EQ(halves.metadata, (io::Metadata{{"format", "pt"}, {"step", "17"}}));
}

TEST_F(Load, SaysWhatAFileIsThatIsNoCheckpoint) {
  const auto error_for = [](const std::string& name) { return error_of([&] { io::load((kCases / name).string()); }); };
  const Error pointer = error_for("bad_05_git_lfs_pointer.safetensors");
  EXPECT_EQ(pointer.code(), "bad-checkpoint");
  EXPECT_STREQ(pointer.what(), "Error while deserializing header: HeaderTooLarge");
  EXPECT_NE(pointer.why().find("this is a Git LFS pointer, not weights"), std::string::npos) << pointer.why();
  EXPECT_NE(pointer.fix().find("git lfs pull"), std::string::npos) << pointer.fix();
  EXPECT_NE(error_for("bad_06_html_error_page.safetensors").why().find("HTML page"), std::string::npos);
  EXPECT_NE(error_for("bad_28_pytorch_zip_renamed.safetensors").why().find("torch.save"), std::string::npos);
  const Error cut = error_for("bad_10_truncated_by_two_bytes.safetensors");
  EXPECT_STREQ(cut.what(), "Error while deserializing header: MetadataIncompleteBuffer");
  EXPECT_NE(cut.why().find("at byte 79 of"), std::string::npos) << cut.why();
  EXPECT_NE(cut.why().find("16 bytes of data, and there are 14: the file was cut short"), std::string::npos)
      << cut.why();
}

struct BadHeader {
  const char* header;
  std::size_t data_bytes;
  const char* kind;
  const char* problem;  // a part of the second sentence
};
const BadHeader kBadHeaders[] = {
    {"[]", 0, "InvalidHeaderStart", "at byte 8"},
    {"", 0, "InvalidHeaderStart", "at byte 8"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 4, "InvalidHeaderDeserialization", "at byte 61"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} x)", 4, "InvalidHeaderDeserialization", "at byte"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
     4, "InvalidHeaderDeserialization", "'w' is there twice"},
    {R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization",
     "'dtype' of 'w' is there twice"},
    {R"({"__metadata__":{"a":"1","a":"2"}})", 0, "InvalidHeaderDeserialization", "'a' is there twice"},
    {R"({"__metadata__":{"a":1}})", 0, "InvalidHeaderDeserialization", "a number stands where none may be"},
    {R"({"__metadata__":{"a":{}}})", 0, "InvalidHeaderDeserialization", "an object stands where none may be"},
    {R"({"__metadata__":"a"})", 0, "InvalidHeaderDeserialization", "a text stands where none may be"},
    {R"({"w":null})", 0, "InvalidHeaderDeserialization", "null stands where none may be"},
    {R"({"w":[1]})", 0, "InvalidHeaderDeserialization", "a list stands where none may be"},
    {R"({"w":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization", "a list stands"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4, "InvalidHeaderDeserialization",
     "'more' is no part of a tensor"},
    {R"({"w":{"dtype":"F32","shape":[1]}})", 4, "InvalidHeaderDeserialization", "lacks one of"},
    {R"({"w":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization", "'F8_E4M3'"},
    {R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization", "-1 is negative"},
    {R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization",
     "1.0 is not a whole"},
    {R"({"w":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization",
     "is not a whole one of 64 bits"},
    {R"({"w":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization",
     "above 2^63"},
    {R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4, "InvalidHeaderDeserialization",
     "more than six dimensions"},
    {R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4, "ValidationOverflow", "2^63"},
    {R"({"w":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0, "ValidationOverflow",
     "2^63"},
    {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "TensorInvalidInfo", "takes 8 bytes"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "TensorInvalidInfo", "4 to 0"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "InvalidHeaderDeserialization",
     "must be two numbers"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "InvalidOffset", "begins at byte 4"},
    {R"({"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6,
     "InvalidOffset", "'w' begins at byte 2 of the data, and those before it end at byte 4"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "MetadataIncompleteBuffer", "there are 5"},
    {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 0, "MetadataIncompleteBuffer", "cut short"},
    {R"({"w":{"dtype":"U8","shape":[4611686018427387904],"data_offsets":[0,4611686018427387904]}})", 9,
     "MetadataIncompleteBuffer", "4611686018427387904 bytes of data, and there are 9"},
    {"{\"\xff\":{}}", 0, "InvalidHeaderDeserialization", "UTF-8"},
};

TEST_F(Load, RefusesHeadersThatDoNotFitTheFormat) {
  for (const BadHeader& bad : kBadHeaders) {
    const std::string file = with_header(bad.header, bad.data_bytes);
    const Error error = error_of([&] { io::load(file); });
    EXPECT_EQ(error.code(), "bad-checkpoint") << bad.header;
    EXPECT_EQ(error.what(), std::string("Error while deserializing header: ") + bad.kind) << bad.header;
    EXPECT_NE(error.why().find(bad.problem), std::string::npos) << bad.header << "\n" << error.why();
  }
}

TEST_F(Load, RefusesAHeaderDeeperThanTheFormatWithoutBuildingIt) {
  const std::string file = with_header("{\"w\":" + std::string(1000000, '['), 0);
  EXPECT_EQ(error_of([&] { io::load(file); }).code(), "bad-checkpoint");
}

TEST_F(Load, RefusesFilesThatEndEarly) {
  io::save(path("w"), {{"w", counted({4})}});
  const std::string whole = content(path("w"));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const Error error = error_of([&] { io::load(file(whole.substr(0, bytes))); });
    EXPECT_EQ(error.code(), "bad-checkpoint") << bytes;
  }
  EXPECT_STREQ(error_of([&] { io::load(file("")); }).what(), "Error while deserializing header: HeaderTooSmall");
  EXPECT_STREQ(error_of([&] { io::load(file(whole.substr(0, 9))); }).what(),
               "Error while deserializing header: InvalidHeaderLength");
}

TEST_F(Load, TakesAnyBoolThatIsNotZeroForTrue) {
  const std::string file = with_header(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 0);
  std::ofstream(file, std::ios::binary | std::ios::app) << std::string("\x00\x42", 2);
  EXPECT_EQ(values(io::load(file).tensors[0].second), (std::vector<double>{0, 1}));
}

TEST_F(Load, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(error_of([&] { io::load(path("not there")); }).code(), "bad-file");
  EXPECT_EQ(error_of([&] { io::load(fs::temp_directory_path().string()); }).why(), "it is not a plain file");
}

// --- the Python package ----------------------------------------------------------------------------------------------

// Reads argv[1], which holds 0 … 5 as [2, 3] of every type, checks it and writes it to argv[2].
const char* const kPython = R"(
import sys, torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
         "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool}
tensors = load_file(sys.argv[1])
assert tensors.keys() == types.keys(), tensors.keys()
for name, dtype in types.items():
    assert tensors[name].dtype == dtype, name
    assert torch.equal(tensors[name], torch.arange(6).view(2, 3).to(dtype)), name
with safe_open(sys.argv[1], "pt") as file:
    assert file.metadata()["epoch"] == "3", file.metadata()
save_file(tensors, sys.argv[2], metadata={"from": "python"})
)";

TEST_F(Save, IsReadByThePythonPackageAndTheOtherWayRound) {
  if (std::system("python3 -c 'import torch, safetensors.torch' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "python3 has no safetensors and torch here";
  }
  NamedTensors saved;
  for (const Dtype dtype : {kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kBool}) {
    saved.emplace_back(name_of(dtype), counted({2, 3}, dtype));
  }
  io::save(path("ours"), saved, {{"epoch", "3"}});
  const std::string command = "python3 " + file(kPython, "check.py") + " " + path("ours") + " " + path("theirs");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const io::Loaded loaded = io::load(path("theirs"));
  EXPECT_EQ(loaded.metadata, (io::Metadata{{"from", "python"}}));
  EXPECT_EQ(loaded.tensors.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    EXPECT_EQ(find(loaded.tensors, name).dtype(), tensor.dtype());
    EXPECT_EQ(values(find(loaded.tensors, name)), values(tensor)) << name;
  }
}

// --- map_location ----------------------------------------------------------------------------------------------------

// A file with one tensor "w", saved on that device.
std::string saved_on(const char* device) {
  return std::string(R"({"__metadata__":{"device:w":")") + device +
         R"("},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
}

TEST_F(Load, BringsTensorsBackToTheDeviceTheyWereSavedOn) {
  const Device card = resolve("sim:0");
  io::save(path("w"), {{"here", counted({2})}, {"there", counted({2}).to(card)}});
  const NamedTensors loaded = io::load(path("w")).tensors;
  EXPECT_EQ(find(loaded, "here").device(), Device{});
  EXPECT_EQ(find(loaded, "there").device(), card);
  EXPECT_EQ(values(find(loaded, "there")), (std::vector<double>{0, 1}));
}

TEST_F(Load, GoesWhereMapLocationSays) {
  const Device card = resolve("sim:0");
  io::save(path("w"), {{"a", counted({2}).to(card)}, {"b", counted({2}).to(card)}});
  EXPECT_EQ(find(io::load(path("w"), "cpu").tensors, "a").device(), Device{});
  EXPECT_EQ(find(io::load(path("w"), card).tensors, "a").device(), card);
  const auto by_name = [&](const std::string& name, Device saved) { return name == "a" ? saved : Device{}; };
  const NamedTensors mapped = io::load(path("w"), by_name).tensors;
  EXPECT_EQ(find(mapped, "a").device(), card);
  EXPECT_EQ(find(mapped, "b").device(), Device{});
}

TEST_F(Load, RefusesADeviceThatIsNotThereWithPyTorchsText) {
  const std::string file = with_header(saved_on("sim:77"), 4);
  const Error error = error_of([&] { io::load(file); });
  EXPECT_EQ(error.code(), "invalid-device");
  EXPECT_EQ(error.what(), "Attempting to deserialize object on SIM device 77 but torch.sim.device_count() is " +
                              std::to_string(device_count(DeviceType::sim)) +
                              ". Please use torch.load with map_location to map your storages to an existing device.");
  EXPECT_EQ(values(io::load(file, "cpu").tensors[0].second).size(), 1U);
  if (device_count(DeviceType::cuda) == 0) {
    const std::string cuda = with_header(saved_on("cuda:0"), 4);
    EXPECT_STREQ(error_of([&] { io::load(cuda); }).what(),
                 "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
                 "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
                 "your storages to the CPU.");
  }
  EXPECT_EQ(error_of([&] { io::load(with_header(saved_on("gpu"), 4)); }).code(), "bad-checkpoint");
}

// --- checkpoints -----------------------------------------------------------------------------------------------------

TEST_F(Checkpoints, KeepModelOptimizerAndNumbersInOneFile) {
  optim::State state;
  state.state[0]["exp_avg"] = counted({2});
  state.state[0]["step"] = full({}, 3);
  state.param_groups = {{{{"lr", 0.1}, {"eps", 1e-8}}, {0, 1}}, {{{"lr", 0.01}}, {2}}};
  io::Checkpoint written;
  written.add("model", NamedTensors{{"fc1.weight", counted({2, 2})}});
  written.add("optimizer", state);
  written.add("scaler", {{"scale", 65536.0}, {"growth_tracker", 12}});
  written.add("disabled", io::Checkpoint::Numbers{});
  written.save(path("run"));

  const io::Checkpoint read = io::Checkpoint::load(path("run"), "cpu");
  EXPECT_EQ(values(find(read.tensors("model"), "fc1.weight")), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(read.numbers("scaler"), (io::Checkpoint::Numbers{{"growth_tracker", 12}, {"scale", 65536}}));
  EXPECT_TRUE(read.numbers("disabled").empty());
  const optim::State back = read.optimizer("optimizer");
  EXPECT_EQ(values(back.state.at(0).at("exp_avg")), (std::vector<double>{0, 1}));
  EXPECT_EQ(back.state.at(0).at("step").item<int>(), 3);
  ASSERT_EQ(back.param_groups.size(), 2U);
  EXPECT_EQ(back.param_groups[0].settings, state.param_groups[0].settings);
  EXPECT_EQ(back.param_groups[0].params, state.param_groups[0].params);
  EXPECT_EQ(back.param_groups[1].params, state.param_groups[1].params);
  EXPECT_TRUE(find(io::load(path("run")).tensors, "optimizer.state.0.exp_avg").defined());
}

// A model, its optimizer and a scheduler, all that a run needs to go on.
struct TrainingRun {
  nn::Sequential model{nn::Linear(2, 8), nn::BatchNorm1d(8), nn::Tanh(), nn::Linear(8, 1)};
  optim::AdamW optimizer{model.parameters(), {.lr = 0.05}};
  optim::StepLR scheduler{optimizer, 2, 0.5};

  double step() {
    const Tensor x = counted({4, 2}, kF32), y = counted({4, 1}, kF32);
    optimizer.zero_grad();
    const Tensor loss = mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    scheduler.step();
    return loss.item();
  }
  void save(const std::string& path) const {
    io::Checkpoint checkpoint;
    checkpoint.add("model", model.state_dict());
    checkpoint.add("optimizer", optimizer.state_dict());
    checkpoint.add("scheduler", {{"epoch", scheduler.last_epoch()}, {"lr", scheduler.last_lrs()[0]}});
    checkpoint.save(path);
  }
  void load(const std::string& path) {
    const io::Checkpoint checkpoint = io::Checkpoint::load(path);
    model.load_state_dict(checkpoint.tensors("model"));
    optimizer.load_state_dict(checkpoint.optimizer("optimizer"));
    const auto numbers = checkpoint.numbers("scheduler");
    scheduler.load_state_dict({static_cast<std::int64_t>(numbers.at("epoch")), {0.05}, {numbers.at("lr")}});
  }
};

TEST_F(Checkpoints, LetARunGoOnAsIfNothingHadHappened) {
  TrainingRun through;
  for (int step = 0; step < 3; ++step) through.step();
  through.save(path("run"));
  TrainingRun resumed;
  resumed.load(path("run"));
  for (int step = 0; step < 3; ++step) EXPECT_EQ(resumed.step(), through.step()) << step;
}

TEST_F(Checkpoints, SayWhichPartsTheyHave) {
  io::Checkpoint checkpoint;
  checkpoint.add("model", NamedTensors{});
  const Error error = error_of([&] { checkpoint.optimizer("optimizer"); });
  EXPECT_STREQ(error.what(), "the checkpoint has no optimizer 'optimizer'");
  EXPECT_EQ(error.why(), "it has model (tensors)");
  EXPECT_EQ(error_of([&] { checkpoint.add("model", NamedTensors{}); }).code(), "bad-checkpoint");
  EXPECT_EQ(error_of([&] { checkpoint.add("a.b", NamedTensors{}); }).code(), "bad-checkpoint");
}

TEST_F(Checkpoints, RefuseTextsThatAreNoNumbers) {
  io::save(path("x"), {}, {{"scaler", "numbers"}, {"scaler.scale", "65536 or so"}});
  const io::Checkpoint read = io::Checkpoint::load(path("x"));
  EXPECT_EQ(error_of([&] { read.numbers("scaler"); }).why(), "it is '65536 or so'");
}

}  // namespace
}  // namespace labrig
