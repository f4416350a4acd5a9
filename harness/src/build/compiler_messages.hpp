// Picks from a compiler's output what a student should read first.
#pragma once

#include <string>

namespace labrig::build {

// "submission.cpp:12:5: error: …", the first error; of template errors the line in the student's file that they come
// from is put in front. What the linker cannot find is demangled by g++ already. The whole output when nothing in it
// looks like an error.
std::string first_error(const std::string& output);

// The line in which a part of the compiler says that it could not work at all: no room, a program missing. Empty when
// there is none; what a student's file or its text says is not looked at.
std::string tool_failure(const std::string& output);

}  // namespace labrig::build
