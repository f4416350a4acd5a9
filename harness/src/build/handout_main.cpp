// labrig-handout IN.md OUT.html: renders a lab's handout. A program of its own, because labrig_add_lab() also runs it
// in projects that have nothing of labrig but the installed package. Read next: handout_page.hpp.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "build/handout_page.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: labrig-handout HANDOUT.md HANDOUT.html\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string markdown(std::istreambuf_iterator<char>(in), {});
  if (!in || markdown.empty()) {
    std::fprintf(stderr, "error: cannot read %s\n  why: it is missing, empty or not readable\n  fix: check the path\n",
                 argv[1]);
    return 2;
  }
  try {
    std::ofstream out(argv[2], std::ios::binary);
    out << labrig::handout::to_page(markdown);
    out.close();
    if (out) return 0;
    std::fprintf(stderr, "error: cannot write %s\n  why: the folder is missing or full\n  fix: check the path\n",
                 argv[2]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "error: cannot render %s\n  why: %s\n  fix: correct the handout\n", argv[1], failure.what());
  }
  return 2;
}
