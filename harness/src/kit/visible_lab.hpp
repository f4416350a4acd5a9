// A lab as students may have it: without hidden scenarios and checks, and without the comments of its author.
#pragma once

#include <string>
#include <string_view>

namespace labrig::kit {

// The lab.toml again, written anew: hidden scenarios and hidden checks are gone, and so are kinds, checks and needs
// that only they had; `points` of [lab] says what the checks that stay sum to. `file` names the text in errors. Throws
// Error `bad-toml`, `nothing-visible`.
std::string visible_lab(std::string_view lab_toml, const std::string& file);

}  // namespace labrig::kit
