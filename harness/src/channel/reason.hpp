// What a submission's process may say about its own end, cut to what a report can hold. The worker cuts so that its
// frame stays small; the supervisor cuts again, because a frame is a claim.
#pragma once

#include <string>

namespace labrig::channel {

// A few lines of a text of any length.
inline std::string shortened(std::string text) {
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "…");
  return text;
}

// A code is kebab-case; anything else is text in the wrong place.
inline std::string plain_code(const std::string& code) {
  const bool plain = !code.empty() && code.size() <= 40 &&
                     code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  return plain ? code : "exception";
}

}  // namespace labrig::channel
