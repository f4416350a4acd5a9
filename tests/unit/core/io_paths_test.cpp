// Where checkpoint files are written and read: links, permissions, pipes, two threads, and names that the file keeps.
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "checkpoint_files.hpp"
#include "expect_error.hpp"
#include "labrig/checkpoint.hpp"
#include "labrig/io.hpp"

namespace labrig {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using SaveTo = test::Files;

TEST_F(SaveTo, KeepsLinksAndWhoMayRead) {
  const std::string target = file("old", "target");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(target, path("link"));
  io::save(path("link"), {{"w", ones({2})}});
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(io::load(target).tensors.size(), 1u);
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(error_of([&] { io::save(path("nul") + std::string(1, '\0'), {}); }).code(), "bad-file");
}

TEST_F(SaveTo, ReplacesNothingButPlainFilesAndReadsNothingElse) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { io::load(path("pipe")); }).code(), "bad-file");  // and does not wait
  EXPECT_EQ(error_of([&] { io::save(path("pipe"), {}); }).code(), "bad-file");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(SaveTo, OnePathByTwoThreadsLeavesOneOfTheTwo) {
  const auto save_often = [&](double value) {
    for (int i = 0; i < 50; ++i) io::save(path("shared"), {{"w", full({1000}, value)}});
  };
  std::thread other([&] { save_often(1); });
  save_often(2);
  other.join();
  const double first = io::load(path("shared")).tensors[0].second[0].item();
  EXPECT_TRUE(first == 1 || first == 2);
}

TEST_F(SaveTo, OfAStrangersDeviceIsLoadedWhereOneSays) {
  const std::string name =
      with_header(R"({"__metadata__":{"device:w":"xpu:0"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_EQ(io::load(name, "cpu").tensors.size(), 1u);
  EXPECT_EQ(error_of([&] { io::load(name); }).code(), "bad-checkpoint");
}

TEST_F(SaveTo, OfACheckpointRefusesNamesThatTheFileKeeps) {
  for (const char* name : {"format", "device:model"}) {
    io::Checkpoint checkpoint;
    EXPECT_EQ(error_of([&] { checkpoint.add(name, io::Checkpoint::Numbers{{"w", 2}}); }).code(), "bad-checkpoint");
  }
}

}  // namespace
}  // namespace labrig
