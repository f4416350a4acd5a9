// The report inside its page: the page can be saved as data again.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace labrig::reports {

inline constexpr std::size_t kPageLimit = 500'000;  // bytes of a page with timelines

// JSON that nothing in it can end a script element with. Where it would make a page of `page_bytes` larger than
// kPageLimit, timelines are left out, then curves and output, at last everything: then it is `null`. `whole` says
// whether anything was.
std::string page_data(const nlohmann::json& report, std::size_t page_bytes, bool& whole);

}  // namespace labrig::reports
