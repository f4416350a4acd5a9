// labrig-format-files DIR: writes every format of every sample, and of reports whose texts try to break out of each,
// for programs that are not ours to read.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "formats.hpp"
#include "samples.hpp"

using namespace labrig::reports;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// The strings that broke writers of JUnit files, as bytes.
std::vector<std::pair<std::string, std::string>> hostile_strings() {
  std::vector<std::pair<std::string, std::string>> all = {{"hostile", test::hostile_text()},
                                                          {"formula", "=HYPERLINK(\"x\")"},
                                                          {"surrogate", "bytes \xed\xa0\x80"},
                                                          {"invalid", "\xff\xfe\xc0\xaf"},
                                                          {"blanks", "   "},
                                                          {"empty", ""},
                                                          {"no-such-day", "2026-02-30T10:20:30Z"},
                                                          {"no-such-time", "2026-02-03T24:20:30Z"},
                                                          {"year-0", "0000-02-03T04:05:06Z"},
                                                          {"a-time", "2028-02-29T23:59:59+02:00"}};
  const json strings = json::parse(test::read_file(std::string(LABRIG_GOLDEN_EXPORTS) + "/junit_strings.json"));
  for (const auto& [name, text] : strings.items())
    all.emplace_back(name, name == "long_line" ? std::string(200'000, 'A') : text.get<std::string>());
  return all;
}

void add_utf8(std::string& to, char32_t c) {
  const auto byte = [&](char32_t bits) { to += static_cast<char>(bits); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
  if (c < 0x10000) return byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
  byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
}

// Every character that some reader takes amiss, between two letters.
void add_characters(std::vector<std::string>& all) {
  const std::pair<char32_t, char32_t> ranges[] = {
      {0x00, 0xa1},        {0xad, 0xad},       {0x300, 0x301},     {0x61c, 0x61c},     {0x115f, 0x1160},
      {0x17b4, 0x17b5},    {0x180b, 0x180f},   {0x2000, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3001},
      {0x3164, 0x3164},    {0xe000, 0xe001},   {0xfdd0, 0xfdef},   {0xfe0e, 0xfe0f},   {0xfeff, 0xfeff},
      {0xff00, 0xff20},    {0xffa0, 0xffa0},   {0xfff0, 0xffff},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
      {0x1d173, 0x1d17a},  {0x1f600, 0x1f601}, {0x1fffe, 0x1ffff}, {0xe0000, 0xe0080}, {0xf0000, 0xf0001},
      {0x10fffd, 0x10ffff}};
  for (const auto& [first, last] : ranges)
    for (char32_t c = first; c <= last; ++c) {
      std::string text = "a";
      add_utf8(text, c);
      all.push_back(text + "b");
    }
}

// Texts that mean something to one of the readers: XML, GitHub's log, Markdown, spreadsheets; bytes that are no UTF-8;
// and pieces of all of these, joined at random.
std::vector<std::string> families() {
  std::vector<std::string> all = {"]]>",
                                  "<![CDATA[x]]>",
                                  "&#x1B;",
                                  "&#0;",
                                  "&lt;",
                                  "<!-- x --",
                                  "--",
                                  "<?xml version=\"1.0\"?>",
                                  "<!DOCTYPE x>",
                                  "::error::x",
                                  "x\n::error::y",
                                  "::stop-commands::x",
                                  "  ::add-mask::x",
                                  "##[error]x",
                                  "x ##[add-mask]y",
                                  "%0A::error::x",
                                  "\r::set-output name=a::b",
                                  "| a | b |",
                                  "[x](https://e)",
                                  "![x](//e)",
                                  "<b>x</b>",
                                  "@everyone",
                                  "#1",
                                  ":tada:",
                                  "`x`",
                                  "```",
                                  "**x**",
                                  "$x$",
                                  "=1+1",
                                  "+1",
                                  "-1",
                                  "@SUM(A1)",
                                  "\t=1",
                                  "\r=1",
                                  "\n=1",
                                  " =1",
                                  "\xef\xbc\x9d"
                                  "1",
                                  "\xef\xbc\x8b"
                                  "1",
                                  "\xef\xbc\x8d"
                                  "1",
                                  "\xef\xbc\xa0"
                                  "x",
                                  "'=1",
                                  "a,b",
                                  "a;b",
                                  "a\"b",
                                  "\"",
                                  "a\r\nb",
                                  "a\rb",
                                  "a\nb",
                                  " a",
                                  "a ",
                                  "  ",
                                  "",
                                  "NaN",
                                  "inf",
                                  "null",
                                  "true",
                                  "\\",
                                  "\\\"",
                                  "\\u001b",
                                  "{{verdict}}",
                                  "\xed\xa0\x80",
                                  "\xed\xb0\x80",
                                  "\xc0\xaf",
                                  "\xff\xfe",
                                  "\xf4\x90\x80\x80",
                                  "\xe2\x82",
                                  "\x80",
                                  "\xf0\x9f\x98",
                                  std::string(3000, 'x'),
                                  std::string(3000, '<'),
                                  std::string(1999, 'x') + "\xf0\x9f\x98\x80",
                                  std::string(500, '`'),
                                  std::string(40, '\n')};
  const std::size_t known = all.size();
  add_characters(all);
  std::mt19937 random(11);  // NOLINT: the same ones every time
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % 5; n > 0; --n)
      text += all[random() % (n == 1 ? all.size() : known)].substr(0, 40);
    all.push_back(text);
  }
  return all;
}

// A check for each text, which is its id, its title, its reason and all else.
json families_report() {
  json report = test::sample("weights-every-batch");
  const json check = report["checks"][1];
  report["checks"] = json::array();
  for (const std::string& text : families()) {
    json one = check;
    one["id"] = one["title"] = one["reason"]["text"] = one["reason"]["code"] = one["handout"] = text;
    one["points"] = 0.0, one["max_points"] = 0.3;
    for (const char* key : {"what", "where", "cause", "next", "evidence"}) one["explain"][key] = text;
    report["checks"].push_back(one);
  }
  report["checks"][0]["points"] = report["score"] = 0.3;
  report["max_score"] = 0.3 * static_cast<double>(report["checks"].size());
  return report;
}

void write(const fs::path& folder, const json& report) {
  fs::create_directories(folder);
  for (const Format format : {Format::html, Format::json, Format::junit, Format::gradescope, Format::markdown,
                              Format::csv, Format::trace, Format::github, Format::classroom})
    std::ofstream(folder / file_of(format), std::ios::binary) << render(format, report);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: labrig-format-files DIR\n";
    return 2;
  }
  const fs::path folder = argv[1];
  for (const char* name : {"solution", "weights-every-batch", "crashed", "hazard", "amp", "refused"})
    write(folder / name, test::sample(name));
  for (const auto& [name, text] : hostile_strings()) write(folder / ("string-" + name), test::with_every_text(text));
  const json all = families_report();
  write(folder / "families", all);
  // Its texts as bytes that JSON cannot hold, for others to compare with.
  std::ofstream texts(folder / "families" / "texts.bin", std::ios::binary);
  for (const json& check : all["checks"]) {
    const auto& text = check["id"].get_ref<const std::string&>();
    texts << text.size() << '\n' << text;
  }
}
