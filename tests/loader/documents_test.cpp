// Code in the guides is cut from files that are compiled. A block behind `<!-- whole: FILE -->` must be that file, one
// behind
// `<!-- cut from FILE -->` a part of it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace {

struct Block {
  std::string file, code;
  bool whole = false;
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Block> blocks_of(const std::string& document) {
  std::vector<Block> blocks;
  std::istringstream lines(document);
  std::string line;
  while (std::getline(lines, line)) {
    const bool whole = line.starts_with("<!-- whole: "), cut = line.starts_with("<!-- cut from ");
    if (!whole && !cut) continue;
    const std::size_t start = line.find_first_of(whole ? ":" : "f") + (whole ? 2 : 5);
    Block block{line.substr(start, line.find(" -->") - start), {}, whole};
    std::getline(lines, line);
    const std::string fence = line.substr(0, 3);
    while (std::getline(lines, line) && line != fence) block.code += line + "\n";
    blocks.push_back(block);
  }
  return blocks;
}

void expect_blocks(const std::string& name, std::size_t at_least) {
  const std::string document = read(LABRIG_SOURCE "/docs/" + name);
  const std::vector<Block> blocks = blocks_of(document);
  EXPECT_GE(blocks.size(), at_least);
  for (const Block& block : blocks) {
    const std::string file = read(LABRIG_SOURCE "/" + block.file);
    ASSERT_FALSE(file.empty()) << name << " names " << block.file;
    if (block.whole)
      EXPECT_EQ(block.code, file) << name << ": " << block.file;
    else
      EXPECT_NE(file.find(block.code), std::string::npos) << name << ": " << block.file << "\n" << block.code;
  }
}

TEST(LabAuthorGuide, ShowsTheTemplateLabAsItIs) { expect_blocks("lab-author-guide.md", 7); }
TEST(PluginGuide, ShowsCodeThatIsCompiled) { expect_blocks("plugin-guide.md", 1); }

}  // namespace
