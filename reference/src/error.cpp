// Error: the three sentences of labrig/error.hpp.
#include "labrig/error.hpp"

namespace labrig {

Error::Error(std::string code, std::string what, std::string why, std::string fix, std::source_location where)
    : code_(std::move(code)), what_(std::move(what)), why_(std::move(why)), fix_(std::move(fix)), where_(where) {}

std::string Error::message() const { return "error: " + what_ + "\n  why: " + why_ + "\n  fix: " + fix_; }

}  // namespace labrig
