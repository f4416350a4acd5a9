// Expects a call to throw labrig::Error with a code and, where it matters, the exact first sentence.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "labrig/error.hpp"

namespace labrig::test {

// The error that `call` throws; a failure of the test when it throws none, or one without why and fix.
template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.why().empty()) << error.what();
    EXPECT_FALSE(error.fix().empty()) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error("none", "none", "none", "none");
}

template <class Call>
void expect_error(const std::string& code, const std::string& what, Call&& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.code(), code);
  EXPECT_STREQ(error.what(), what.c_str());
}

}  // namespace labrig::test
