// What a submission threw, in words. Any type may fly: labrig's own error, a std::exception, an int.
#pragma once

#include <string>

namespace labrig::worker {

struct Failure {
  std::string code;                // of the labrig::Error; else host-out-of-memory or exception
  std::string text;                // one sentence
  std::string why = {}, fix = {};  // as a labrig::Error says them; else empty
};

// Call inside a catch block.
Failure describe_current_exception();

}  // namespace labrig::worker
