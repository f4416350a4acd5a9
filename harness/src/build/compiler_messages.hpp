// Picks from a compiler's output what a student should read first.
#pragma once

#include <string>

namespace labrig::build {

// What a student needs of it, a few lines:
//
//   submission.cpp:12:5: error: …               the first error, and below it the line of code with its mark
//   and 3 more errors
//
// An error inside a header is told at the line of the student's file that asked for it. For a class that cannot be made
// the functions that it does not have are listed. What the linker cannot find is demangled by g++ already. Folders of
// this machine are left out. The output's beginning when nothing in it looks like an error.
std::string first_error(const std::string& output);

// The line in which a part of the compiler says that it could not work at all: no room, a program missing. Empty when
// there is none; what a student's file or its text says is not looked at.
std::string tool_failure(const std::string& output);

}  // namespace labrig::build
