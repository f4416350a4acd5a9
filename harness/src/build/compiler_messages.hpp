// Picks from a compiler's output what a student should read first.
#pragma once

#include <string>

namespace labrig::build {

// "submission.cpp:12:5: error: …", the first error; of template errors the line in the student's file that they come
// from is put in front. What the linker cannot find is demangled by g++ already. The whole output when nothing in it
// looks like an error.
std::string first_error(const std::string& output);

}  // namespace labrig::build
