// A folder for the checkpoint files of one test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace labrig::test {

class Files : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& content, const std::string& name = "x.safetensors") const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  // A file with this header (after its length) and `data_bytes` of data.
  std::string with_header(const std::string& header, std::size_t data_bytes) const {
    std::string content(8, '\0');
    const std::uint64_t length = header.size();
    std::memcpy(content.data(), &length, 8);
    return file(content + header + std::string(data_bytes, '\1'));
  }
  static std::string content(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("labrig-io-" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace labrig::test
