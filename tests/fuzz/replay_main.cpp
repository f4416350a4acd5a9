// Stands in for libFuzzer where there is no clang:  PROGRAM FOLDER RUNS  feeds every file of the corpus to the target,
// then RUNS inputs made from them by a few random changes. The seed is fixed: a failure comes back.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace {

using Input = std::vector<std::uint8_t>;

// In order of their names, so that every run is the same.
std::vector<Input> read_corpus(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Input> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

void change(Input& input, const Input& other, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  const auto at = static_cast<std::ptrdiff_t>(below(input.size()));
  switch (below(4)) {
    case 0:
      input.insert(input.begin() + at, static_cast<std::uint8_t>(random()));
      return;
    case 1:
      if (!input.empty()) input.erase(input.begin() + at);
      return;
    case 2: {
      input.resize(static_cast<std::size_t>(at));
      const auto from = other.begin() + static_cast<std::ptrdiff_t>(below(other.size()));
      input.insert(input.end(), from, other.end());
      return;
    }
    default:
      if (!input.empty()) input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s FOLDER RUNS\n", arguments[0]);
    return 2;
  }
  const std::vector<Input> corpus = read_corpus(arguments[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "there is no input in %s\n", arguments[1]);
    return 2;
  }
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937 random(1);
  const int runs = std::atoi(arguments[2]);
  for (int run = 0; run < runs; ++run) {
    Input input = corpus[random() % corpus.size()];
    for (auto changes = 1 + random() % 8; changes > 0; --changes) {
      change(input, corpus[random() % corpus.size()], random);
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs of the corpus and %d made from them: nothing found\n", corpus.size(), runs);
  return 0;
}
